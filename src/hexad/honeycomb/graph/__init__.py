"""The graph in memory: adjacency, entry points, statistics."""
