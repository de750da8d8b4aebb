"""Doubles of the providers that the example flows call, as one real HTTP server that misbehaves on request."""
