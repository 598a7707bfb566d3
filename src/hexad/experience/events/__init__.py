"""Whole events of the stream: their timesteps grouped, read, and found by text."""
