"""Full text, vectors, and the recall that fuses them."""
