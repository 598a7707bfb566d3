"""Query."""
