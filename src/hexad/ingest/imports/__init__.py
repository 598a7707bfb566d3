"""Readers of other memory systems' exports and files."""
