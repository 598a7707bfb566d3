"""Verdicts on answers."""
