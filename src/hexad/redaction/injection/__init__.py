"""Whether a text speaks to a model instead of to a reader."""
