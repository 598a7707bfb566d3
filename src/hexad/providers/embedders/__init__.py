"""Embedders: what one is, and those that come with the package."""
