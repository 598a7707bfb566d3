"""What was decided, why, and instead of what."""
