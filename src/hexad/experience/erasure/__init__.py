"""Erasing experience and documents for good: what is chosen, its rows, its files."""
