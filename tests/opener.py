"""The type of the fixture `opened`, for tests that name it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

import hexad
from hexad import Hexad
from hexad.core.ids import IdSource
from hexad.providers.embedders.base import Embedder
from hexad.providers.generators.base import GeneratorSpec
from hexad.providers.rerankers import RerankSpec

EmbedderSpec = str | Embedder | Callable[[Sequence[str]], object] | None


class Opener(Protocol):
    """Opens stores that are closed and checked at the end of the test."""

    def __call__(
        self,
        path: Path | None = None,
        *,
        embedder: EmbedderSpec = ...,
        generator: GeneratorSpec = ...,
        rerank: RerankSpec = ...,
        ids: IdSource | None = None,
        background: bool | None = False,
        readonly: bool = False,
        create: bool = True,
        role: str | None = None,
        clock: hexad.Clock | None = None,
    ) -> Hexad: ...
