"""The commands about memories and spaces."""
