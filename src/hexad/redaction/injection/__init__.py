"""Injection."""
