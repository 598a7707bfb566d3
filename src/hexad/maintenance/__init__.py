"""Upkeep of a store: jobs, checks, reindexing, status."""
