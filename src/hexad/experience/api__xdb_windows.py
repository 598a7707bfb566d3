"""The calls of `hx.xdb` on windows, submissions and their evidence (document 2, sections 3.5 and 4.4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from hexad.core.arguments import parse_choice
from hexad.errors import InvalidInput
from hexad.experience.arguments import tick_range_of
from hexad.experience.stream_database import Experience
from hexad.experience.submissions.evidence import EvidencePackages
from hexad.experience.submissions.submissions import Graftings
from hexad.experience.tiers.pinning import Tiers
from hexad.experience.values.records import Fidelity
from hexad.experience.values.tiers import Submission, SubmissionStatus, TimeWindow


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowParts:
    """What the calls on windows delegate to."""

    tiers: Tiers
    graftings: Graftings
    evidence: EvidencePackages


class WindowCalls:
    """The part of `Xdb` that is about what stays in full detail, and why."""

    _experience: Experience
    _window_parts: WindowParts

    # Windows ----------------------------------------------------------------------------------------------------

    def pin_window(
        self, tick_range: Sequence[int], *, session_id: str | None = None, reason: str | None = None
    ) -> TimeWindow:
        """Keep a range of ticks, both ends included, in full detail until it is unpinned, and return its window.

        `session_id` None is this thread's current session. The same range again is the same window. Of a range that
        is partly COLD what is left is pinned; the window says which ticks, and how many tokens.

        Raises `QuotaExceeded` when the tokens of all pinned ranges together would be more than the contract's
        `warm_quota_tokens` (100,000 without one), `NotFound` for ticks that were never recorded, `Conflict` for such
        as are COLD; then nothing was changed.

        >>> import hexad
        >>> with hexad.open(":memory:", embedder=None) as hx:
        ...     _ = hx.xdb.start_session("monday")
        ...     _ = [hx.xdb.record("output", word) for word in ("It", " rained", " frogs")]
        ...     window = hx.xdb.pin_window((2, 3), reason="interesting")
        ...     window.fidelity.value, window.token_count
        ('warm', 2)
        """
        session = self._experience.current if session_id is None else session_id
        if session is None:
            raise InvalidInput("There is no current session; call start_session first, or give session_id.")
        return self._window_parts.tiers.pin(session, tick_range, reason=reason)

    def unpin_window(self, window_id: str) -> TimeWindow:
        """Let go of a pinned window, or of one in its time of grace, and return it as it stands now.

        What of it has left the session's context becomes REPLY records at once, the rest is HOT again. What another
        window keeps stays. Raises `NotFound`, `Conflict` for one that an unresolved submission names.
        """
        return self._window_parts.tiers.unpin(window_id)

    def get_window(self, window_id: str) -> TimeWindow:
        """Return one window as it stands now; of a COLD one with what stands for it. Raises `NotFound`."""
        return self._window_parts.tiers.get(window_id)

    def windows(
        self,
        *,
        session_id: str | None = None,
        tick_range: tuple[int, int] | None = None,
        fidelity: Fidelity | str | None = None,
        pinned: bool | None = None,
    ) -> list[TimeWindow]:
        """Return the windows for which everything given holds, by session and first tick.

        With `tick_range` those that share a tick with it. `session_id` None asks all sessions.
        """
        return self._window_parts.tiers.find(
            session_id=session_id,
            ticks=tick_range_of(tick_range),
            fidelity=None if fidelity is None else parse_choice(Fidelity, fidelity, "fidelity"),
            pinned=pinned,
        )

    def get_windows_for_tag(self, tag_name_or_id: str) -> list[TimeWindow]:
        """Return the windows that share a tick with what a tag is on; raises `NotFound`."""
        return self._window_parts.graftings.windows_for_tag(tag_name_or_id)

    def warm_tokens(self) -> int:
        """Return how many tokens are pinned, under two pins once; the contract's `warm_quota_tokens` is the most."""
        return self._window_parts.tiers.warm_tokens()

    # Submissions ------------------------------------------------------------------------------------------------

    def submit_graft(self, bud_tag_id: str, submission_id: str) -> list[str]:
        """Hand a bud in: keep its examples as evidence until the submission is resolved; returns the windows' ids.

        A window for each range of ticks in full detail that the bud's tag is on now, in all sessions; tags that are
        put on later change nothing. They do not count against the WARM quota. The same call again gives the same
        windows. The bud stands at `training` from here on.

        Raises `NotFound`, `InvalidInput` for a tag that is no bud, a bud without an example in full detail, or an id
        that cannot name a folder, `Conflict` for an id that another bud has or that is resolved.
        """
        return list(self._window_parts.graftings.submit(bud_tag_id, submission_id).window_ids)

    def resolve_submission(self, submission_id: str, accepted: bool) -> Submission:
        """Say what became of a submission, and return it; the same answer again changes nothing.

        Accepted: its windows are COLD, their timesteps REPLY records, and the bud is `promoted`. Rejected: they are
        WARM and unpinned until their grace is over (`submission_grace_days`), so that they can be pinned, and the bud
        is `collecting` again. A window stays SUBMITTED while another unresolved submission names it.

        Raises `NotFound`, `Conflict` when the other answer was given.
        """
        return self._window_parts.graftings.resolve(submission_id, accepted=accepted)

    def get_submission(self, submission_id: str) -> Submission:
        """Return one submission; raises `NotFound`."""
        return self._window_parts.graftings.get(submission_id)

    def submissions(self, status: SubmissionStatus | str | None = None) -> list[Submission]:
        """Return the submissions of one status (`open`, `accepted`, `rejected`) or all, the oldest first."""
        return self._window_parts.graftings.find(status)

    def get_windows_for_submission(self, submission_id: str) -> list[TimeWindow]:
        """Return the windows that a submission named, as they stand now; raises `NotFound`."""
        return self._window_parts.graftings.windows_of(submission_id)

    def export_submission(self, submission_id: str, out: Path | str | None = None) -> Path:
        """Write the evidence of a submission as a package and return its folder: `.hexad/exports/<submission_id>/`, or
        `out`. A package that says the same stays as it is, an older one is replaced.

        Raises `NotFound`, `Conflict` when the evidence is not in full detail any more, or something else is at `out`.
        """  # fmt: skip
        return self._window_parts.evidence.export(submission_id, out)

    def verify_export(self, submission_id_or_path: str | Path) -> list[str]:
        """Return what is wrong with a package, by a submission's id or by path; an empty list when nothing is.

        Looked for are files that are missing, were changed or do not belong there, and counts that are not what the
        manifest says. Raises `NotFound` when there is no package.
        """
        return self._window_parts.evidence.verify(submission_id_or_path)
