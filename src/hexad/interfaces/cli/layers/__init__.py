"""The commands about the layers and the honeycomb."""
