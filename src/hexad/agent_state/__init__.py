"""What programs around an agent keep in its store as bytes: the checkpoints of a graph's threads."""
