"""Vectors: their bytes, their table, their arithmetic, their index."""
