"""Spaces: named containers of memories, their policies, retention, bundles and files."""
