"""Decide, without a world, how configurable requests move through their flows."""
