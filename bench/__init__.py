"""Figures of speed and size, measured beside what they are compared with."""
