"""Whether a text is worth remembering, and what it commits to."""
