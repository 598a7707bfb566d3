"""Walks over the graph under a token budget, and what they read ahead."""
