"""Governance."""
