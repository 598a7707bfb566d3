"""What the rows of windows and submissions promise about each other: `(query, words)`, as `check` asks them."""

from __future__ import annotations

from typing import Final

_NAMED: Final = (
    "EXISTS (SELECT 1 FROM window_submissions ws JOIN submissions s ON s.no = ws.submission_no"
    " WHERE ws.window_no = w.no AND s.status = 'open')"
)

WINDOW_PROMISES: Final = (
    (
        f"SELECT w.id FROM time_windows w WHERE (w.fidelity = 'submitted') <> {_NAMED}",
        "Window {0!r} is evidence of no open submission, or is named by one and not kept. Put a backup in its place.",
    ),
    (
        "SELECT w.id FROM time_windows w WHERE w.fidelity = 'warm' AND w.pinned = (w.grace_until IS NOT NULL)",
        "Window {0!r} is kept for no reason, or for two. `unpin_window` lets go of it.",
    ),
    (
        "SELECT w.id, s.id FROM time_windows w JOIN sessions s ON s.no = w.session_no"
        " WHERE w.first_tick < 0 OR w.last_tick < w.first_tick",
        "Window {0!r} of session {1!r} is on ticks that cannot be. Put a backup in its place.",
    ),
    (
        "SELECT s.id, s.status FROM submissions s WHERE (s.status = 'open') <> (s.resolved_at IS NULL)",
        "Submission {0!r} is {1!r}, and the time of its answer says otherwise. Put a backup in its place.",
    ),
)
