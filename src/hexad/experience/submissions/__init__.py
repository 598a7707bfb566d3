"""Submissions of candidate concepts, and the evidence packages that they rest on."""
