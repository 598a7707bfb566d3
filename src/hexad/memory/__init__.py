"""Memories, spaces, policies, facts and decisions as values, and their tables."""
