"""Assemble the domain and its adapters into one deployable service."""
