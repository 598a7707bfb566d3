"""The orderings of document 1, section 5, over cached views of a space."""
