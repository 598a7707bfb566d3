"""Bundles: what a space knows of a topic, ordered, before an agent's step."""
