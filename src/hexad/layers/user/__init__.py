"""User."""
