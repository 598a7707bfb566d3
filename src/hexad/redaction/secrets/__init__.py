"""Credentials, by their shape, their name or the block that holds them."""
