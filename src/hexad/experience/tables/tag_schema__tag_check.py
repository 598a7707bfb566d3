"""What the rows of the folksonomy promise about each other: `(query, words)`, as `check` asks them."""

from __future__ import annotations

from typing import Final

_SPAN_IS_WRONG: Final = (
    "(range_start IS NULL) <> (range_end IS NULL) OR (range_start IS NULL) <> (span IS NULL)"
    " OR (range_start IS NULL AND target_type <> 'event') OR (event_id IS NULL) <> (target_type <> 'event')"
    " OR range_start < 0 OR range_end < range_start OR (target_type = 'timestep' AND range_end <> range_start)"
    " OR (range_end - range_start) >> span <> 0 OR (span > 0 AND (range_end - range_start) >> (span - 1) = 0)"
)

TAG_PROMISES: Final = (
    (
        f"SELECT id, session_id FROM tag_applications WHERE {_SPAN_IS_WRONG}",
        "The tag application {0!r} in session {1!r} is on ticks that cannot be. Remove it, and tag again.",
    ),
    (
        f"SELECT id, session_id FROM comments WHERE {_SPAN_IS_WRONG}",
        "The comment {0!r} in session {1!r} is on ticks that cannot be. Put a backup in its place.",
    ),
    (
        "SELECT id, confidence FROM tag_applications WHERE NOT confidence BETWEEN 0 AND 1",
        "The tag application {0!r} has the confidence {1}, not one from 0 to 1. Remove it, and tag again.",
    ),
    (
        "SELECT id, tag_type FROM tags WHERE (tag_type = 'bud') <> (bud_status IS NOT NULL)",
        "Tag {0!r} of type {1!r} is half a bud. `update_bud_status` mends it.",
    ),
    (
        "SELECT id, concept_id FROM tags WHERE id <> concept_id OR (tag_type = 'concept' AND concept_id IS NULL)",
        "The concept {1!r} has the id {0!r}; the two must be one. Put a backup in its place.",
    ),
    (
        "SELECT p.id, t.id FROM concepts c JOIN concept_packs p ON p.no = c.pack_no JOIN tags t ON t.no = c.tag_no"
        " WHERE t.concept_id IS NULL",
        "The pack {0!r} has the tag {1!r}, which is no concept. Load the pack again.",
    ),
)
