"""Experience."""
