"""Walk."""
