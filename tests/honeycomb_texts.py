"""Texts that have something to do with one another, two by two, for tests of links."""

from __future__ import annotations

TEXTS = (
    "The release needs a signed tag before the deploy starts.",
    "A deploy starts only after the signed tag of the release is there.",
    "Bread rises better in a warm kitchen.",
    "The warm kitchen makes the bread rise.",
    "Our database keeps a write-ahead log.",
    "The write-ahead log of the database grows until a checkpoint.",
    "Birds migrate south when the days get shorter.",
    "Shorter days send the birds south.",
    "A checkpoint copies the log into the database.",
    "Kitchen knives need sharpening once a month.",
)
