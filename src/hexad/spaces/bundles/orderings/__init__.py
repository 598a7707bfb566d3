"""Orderings."""
