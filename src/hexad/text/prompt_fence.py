"""The lines between which a text stands in a prompt, so that it cannot speak for whoever asks."""

from __future__ import annotations

import hashlib


def fence_of(text: str) -> str:
    """Return the line that encloses `text`: made of its hash, so that no text can hold its own."""
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return f"=====text-{digest[:32]}====="
