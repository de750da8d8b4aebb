"""A whole store in memory, with the promises of the durable one but durability: for embedding, simulation and tests.

It serves one thread: between two awaits nothing else happens, which is all the locking that it needs.
"""
