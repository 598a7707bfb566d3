"""The truth: the only SQL and the only files."""
