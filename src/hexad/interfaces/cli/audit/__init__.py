"""The commands of `hexad audit`."""
