"""Derived views of the storage; delete them and `reindex` brings them back."""
