"""Recording: from what a caller gives to acknowledged records in a log."""
