"""What programs around an agent keep in its store as bytes: checkpoints of graphs, values under keys."""
