"""The experience database of a store, built when it is first asked for: most stores' commands do without."""

from __future__ import annotations

from dataclasses import dataclass

from hexad.experience.xdb import Experience, ExperienceNeeds
from hexad.facade.xdb import Xdb
from hexad.model.actor import Actor


@dataclass(frozen=True, slots=True, kw_only=True)
class Experiencing:
    """What records experience and finds it again."""

    experience: Experience
    xdb: Xdb


def build_experiencing(needs: ExperienceNeeds, *, actor: Actor) -> Experiencing:
    """Return the experience database of one store."""
    experience = Experience(needs)
    return Experiencing(experience=experience, xdb=Xdb(experience, actor=actor))
