"""The SQL of memories, spaces, sources, facts and decisions."""
