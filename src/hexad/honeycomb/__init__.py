"""Honeycomb."""
