"""The SQL of the code graph."""
