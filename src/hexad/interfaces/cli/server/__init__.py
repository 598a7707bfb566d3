"""Commands that serve a store."""
