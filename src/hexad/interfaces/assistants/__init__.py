"""Connecting assistants: what is written into their configuration, and how it is taken out again."""
