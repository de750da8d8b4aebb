"""Offer the use cases over HTTP."""
