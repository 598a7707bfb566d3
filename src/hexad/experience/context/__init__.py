"""Context windows: how full they are, and their compaction into summaries."""
