"""Secrets, personal data and instructions to a model: found, and taken out."""
