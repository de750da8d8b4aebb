"""Exact JSON: values, text, pointers, canonical form and schemas, without a float anywhere."""
