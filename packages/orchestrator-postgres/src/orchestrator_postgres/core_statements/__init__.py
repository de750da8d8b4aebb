"""Ordinary statements, composed with SQLAlchemy Core; `make statements` makes of them the texts that are sent.

A process that serves reads the texts and never imports SQLAlchemy, which was more than a fifth of its start. The rooms:
`tables`, one for each kind of row, and `texts`, which brings them together.
"""
