"""Models: embedders and text generators."""
