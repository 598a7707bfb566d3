"""Stores in one process over a simulated clock, disk and scheduler; `python tests/simulation` runs it (CONTRIBUTING.md)."""
