"""The SQL of the user layer."""
