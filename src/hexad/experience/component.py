"""The experience database, as the store puts it together with the other systems."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from hexad.database.component import Component, script
from hexad.database.encryption.cipher import DOCUMENTS, STREAM
from hexad.database.encryption.store_files import own_files
from hexad.database.store_context import StoreContext
from hexad.experience.documents import check_copies
from hexad.experience.stream.segment_files import check_stream
from hexad.experience.tables.cold_ranges import check_cold
from hexad.experience.tables.documents import Documents, check_documents
from hexad.experience.tables.schema import (
    AUTO_TAG_DDL,
    DDL,
    DOCUMENT_DDL,
    REMOVED_DOCUMENT_DDL,
    SIDE_DDL,
    STREAM_ERASURE_DDL,
    TAG_DDL,
    TAG_PROMISES,
    TIER_DDL,
)
from hexad.experience.tables.windows import WINDOW_PROMISES


def _stream(context: StoreContext) -> Iterator[str]:
    cipher = None if context.crypt is None else context.crypt.cipher(STREAM)
    yield from check_stream(context.db, context.directory / "stream", cipher)


def _copies(context: StoreContext) -> Iterator[str]:
    own = own_files(context.directory, context.crypt, DOCUMENTS)
    yield from check_copies(context.directory / "documents", Documents(context.db), own)


COMPONENT: Final = Component(
    name="experience",
    schema=(
        script(3, DDL),
        script(4, TAG_DDL),
        script(5, DOCUMENT_DDL),
        script(6, TIER_DDL),
        script(7, SIDE_DDL),
        script(8, AUTO_TAG_DDL, place=0),
        script(8, REMOVED_DOCUMENT_DDL, place=1),
        script(10, STREAM_ERASURE_DDL),
    ),
    promises=(*TAG_PROMISES, *WINDOW_PROMISES),
    checks=(
        _stream,
        lambda context: check_cold(context.db),
        lambda context: check_documents(context.db),
    ),
    file_checks=(_copies,),
)
