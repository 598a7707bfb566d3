"""Adapters: they see the public names and the configuration, nothing below."""
