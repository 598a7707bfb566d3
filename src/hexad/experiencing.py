"""The experience database of a store, built when it is first asked for: most stores' commands do without."""

from __future__ import annotations

from dataclasses import dataclass

from hexad.experience.documents import DocumentNeeds, DocumentRepository
from hexad.experience.replies import ReplyMaker
from hexad.experience.tagging import Tagging
from hexad.experience.xdb import Experience, ExperienceNeeds
from hexad.facade.xdb import Xdb
from hexad.ids import IdSource
from hexad.model.actor import Actor


@dataclass(frozen=True, slots=True, kw_only=True)
class Experiencing:
    """What records experience and finds it again."""

    experience: Experience
    replies: ReplyMaker
    xdb: Xdb


def build_experiencing(needs: ExperienceNeeds, *, actor: Actor, ids: IdSource) -> Experiencing:
    """Return the experience database of one store."""
    experience = Experience(needs)
    replies = ReplyMaker(
        needs.db, experience.reader, masking=experience.masking, ids=ids, flush=experience.flush
    )
    tagging = Tagging(
        needs.db,
        experience,
        ids=ids,
        mask=experience.masking.text,
        created_by=actor.agent or actor.describe(),
    )
    documents = DocumentRepository(
        DocumentNeeds(
            db=needs.db,
            directory=needs.directory / "documents",
            ids=ids,
            mask=experience.masking.text,
            source=actor.agent or actor.describe(),
        )
    )
    return Experiencing(
        experience=experience, replies=replies, xdb=Xdb(experience, tagging, documents, actor=actor)
    )
