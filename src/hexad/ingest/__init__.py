"""The write path: from a source to one transaction."""
