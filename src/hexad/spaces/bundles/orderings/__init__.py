"""The orderings of document 1, over a cached view of a space."""
