"""The demonstration: the example flow driven from outside, each step compared with what was expected."""
