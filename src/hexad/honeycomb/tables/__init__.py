"""The SQL of the honeycomb."""
