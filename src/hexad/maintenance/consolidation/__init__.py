"""Consolidation: sessions to the project, the project by itself, the project to the user."""
