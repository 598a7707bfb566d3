"""What runs in the background or on request: tasks, reindexing, checks."""
