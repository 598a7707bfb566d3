"""The interactive browser of memories."""
