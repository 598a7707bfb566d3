"""How much two texts or names are alike."""
