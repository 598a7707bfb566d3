"""The SQL of the experience database."""
