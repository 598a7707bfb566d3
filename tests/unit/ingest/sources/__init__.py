"""Tests of the readers of sources."""
