"""Spaces as files: portable documents and signed exports."""
