"""Bytes that nobody meant, for everything that reads what others wrote; `tests/data/fuzzing` has what is changed."""
