"""What scores texts for a question: a function, or an endpoint with a `/rerank`; and how a setting becomes one."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, NamedTuple, Protocol, SupportsFloat

from hexad.core.arguments import is_whole, quoted, require_function, said_by
from hexad.errors import InvalidInput, ProviderError
from hexad.providers.generators.endpoints import Endpoint, GeneratorAccess, Kind, parse_endpoint
from hexad.providers.http_requests import JsonEndpoint
from hexad.text.tokens import estimate_tokens

TEXT_CHARACTERS: Final = 4_000
"""So much of a text, and of a question, is scored: more than the usual models read."""
KEY_VARIABLE: Final = "HEXAD_RERANK_API_KEY"
FUNCTION: Final = "function"
NONE: Final = "none"
_TEI: Final = "tei"
KINDS: Final[Mapping[str, Kind]] = {
    kind.name: kind
    for kind in (
        Kind(name="cohere", base_url="https://api.cohere.com/v2", variable="COHERE_API_KEY"),
        Kind(name="jina", base_url="https://api.jina.ai/v1", variable="JINA_API_KEY"),
        Kind(name="openai", base_url="", needs_key=False),
        Kind(name=_TEI, base_url="", needs_key=False),
    )
}
_FORMS: Final = (
    "'cohere:MODEL', 'jina:MODEL', 'openai:MODEL@URL' for an endpoint that speaks Cohere's format, 'tei:MODEL@URL', "
    "'none', or in Python a function from a question and texts to scores"
)
_ATTEMPTS: Final = 3
_ANSWER_BYTES: Final = 4 * 1024 * 1024
"""Most bytes of an answer that are read; some endpoints repeat the texts in it."""
_MOST_TOKENS: Final = 100_000_000
_REFUSED: Final = "Check the model's name and what it accepts."


class RerankScores(NamedTuple):
    """A score for each text, None where it got none; and the tokens that it took, None where nobody says."""

    values: Sequence[float | None]
    tokens: int | None


class Reranker(Protocol):
    """RerankScores texts for a question, the higher the better. Safe to share between threads."""

    @property
    def provider(self) -> str:
        """Who is charged: `cohere`, `openai@host`, `function`."""

    @property
    def model(self) -> str:
        """Which model it is."""

    def rerank(self, question: str, texts: Sequence[str], *, within_s: float) -> RerankScores:
        """Return the scores; raises `ProviderError` where there are none to be had."""


RerankFunction = Callable[[str, Sequence[str]], object]
RerankSpec = str | RerankFunction | None


class FunctionReranker:
    """Wraps `(question, texts) -> scores`, one number for each text. It may be called from several threads at once."""

    def __init__(self, function: RerankFunction) -> None:
        self._function = function
        named = function if hasattr(function, "__qualname__") else type(function)
        self.provider, self.model = FUNCTION, f"{named.__module__}.{named.__qualname__}"

    def rerank(self, question: str, texts: Sequence[str], *, within_s: float) -> RerankScores:
        """Return the scores of the function; raises `ProviderError` when it raises, or returns anything else."""
        del within_s  # a function cannot be stopped; who asks does not wait for longer
        try:
            return RerankScores(_numbers(self._function(question, list(texts)), count=len(texts)), None)
        except ProviderError:
            raise
        # The one broad handler here: foreign code may raise anything, and an answer does without it.
        except Exception as error:
            words = said_by(error, [question, *texts])
            raise ProviderError(f"Reranker {FUNCTION}:{self.model} raised {words}") from error


def _numbers(answer: object, *, count: int) -> list[float | None]:
    if isinstance(answer, str) or not isinstance(answer, Iterable):
        raise ProviderError(f"The reranker returned {type(answer).__name__}; return a number for each text.")
    given = list(answer)
    scores = [_finite(score) for score in given]
    if len(scores) != count:
        raise ProviderError(
            f"The reranker returned {len(scores)} scores for {count} texts; return one for each."
        )
    if None in scores:
        score = _shown(given[scores.index(None)])
        raise ProviderError(
            f"The reranker returned {score}, which is no finite number; return one for each text."
        )
    return scores


def _shown(score: object) -> str:
    """Return a score in its type's name; a text could be that of a memory, and is not repeated."""
    return repr(score) if score is None or isinstance(score, bool | float) else f"a {type(score).__name__}"


def _finite(score: object) -> float | None:
    """Return a score as a number, None for what is none."""
    if isinstance(score, bool) or not isinstance(score, SupportsFloat):
        return None
    try:
        number = float(score)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


class HostedReranker:
    """Asks `POST {base URL}/rerank`, as Cohere, Jina, vLLM, LiteLLM, llama.cpp and TEI have it.

    After 429, 5xx or no connection it is tried again, at most twice, as long as the time allows.
    """

    def __init__(self, home: Endpoint, access: GeneratorAccess) -> None:
        self._home, self._access = home, access
        self.provider, self.model = home.provider, home.model

    def rerank(self, question: str, texts: Sequence[str], *, within_s: float) -> RerankScores:
        """Return the scores of the endpoint; raises `ProviderError`, naming endpoint, status and remedy."""
        home, key = self._home, self._access.key_for(self._home, chosen=True)
        if key is None and home.kind.needs_key and not home.own:
            raise ProviderError(
                f"There is no key for {home.name}: set {KEY_VARIABLE} or {home.kind.variable}.", charged=False
            )
        body: dict[str, object] = {"model": self.model, "query": question, "documents": list(texts)}
        if home.kind.name == _TEI:
            body = {"query": question, "texts": list(texts), "truncate": True}
        endpoint = JsonEndpoint(
            home.base_url, "/rerank", api_key=key, timeout_s=within_s, attempts=_ATTEMPTS, refused=_REFUSED
        )
        answer = endpoint.post(json.dumps(body).encode("ascii"), limit_bytes=_ANSWER_BYTES, within_s=within_s)
        return _scores_of(answer, count=len(texts), where=endpoint.where)


def _scores_of(answer: bytes, *, count: int, where: str) -> RerankScores:
    """Return the scores of an answer by their `index`; raises `ProviderError` for one that cannot be believed."""
    try:
        document = json.loads(answer)
    except (ValueError, RecursionError) as error:
        raise ProviderError(
            f"{where} answered with something that is not JSON; is it a rerank endpoint?"
        ) from error
    results = document.get("results") if isinstance(document, dict) else document
    if not isinstance(results, list) or not results or not all(isinstance(item, dict) for item in results):
        raise ProviderError(f"{where} answered without a list 'results'; is it a rerank endpoint?")
    values: list[float | None] = [None] * count
    for item in results:
        index, score = item.get("index"), _finite(item.get("relevance_score", item.get("score")))
        if not is_whole(index, 0, count - 1) or values[index] is not None or score is None:
            raise ProviderError(
                f"{where} answered with an index that no text has, one twice, or a score that is no number."
            )
        values[index] = score
    return RerankScores(values, _tokens_of(document))


def _tokens_of(document: object) -> int | None:
    """Return the tokens that an answer says it took; None for what no call can have used."""
    usage = document.get("usage") if isinstance(document, dict) else None
    tokens = usage.get("total_tokens", usage.get("prompt_tokens")) if isinstance(usage, dict) else None
    return tokens if is_whole(tokens, 1, _MOST_TOKENS) else None


def estimate(question: str, texts: Sequence[str]) -> int:
    """Return about how many tokens are read: the question goes with each text."""
    return len(texts) * estimate_tokens(question) + sum(map(estimate_tokens, texts))


def resolve_reranker(spec: RerankSpec, *, access: GeneratorAccess | None = None) -> Reranker | None:
    """Return the reranker that `spec` names; None for None and "none". Nothing is loaded or sent yet.

    Raises `InvalidInput` for what is no reranker.
    """
    if spec is None or spec == NONE:
        return None
    if isinstance(spec, str):
        endpoint = parse_endpoint(spec, KINDS, key_variable=KEY_VARIABLE)
        if endpoint is None:
            raise InvalidInput(f"Unknown reranker {spec[:80]!r}; give {_FORMS}.", argument="rerank")
        if not endpoint.base_url:
            raise InvalidInput(
                f"The reranker {spec[:80]!r} names no endpoint; write '{endpoint.kind.name}:MODEL@https://host/v1'.",
                argument="rerank",
            )
        return HostedReranker(endpoint, access or GeneratorAccess())
    if callable(spec) and not isinstance(spec, type):
        require_function(spec, "rerank", given=("question", "texts"))
        return FunctionReranker(spec)
    raise InvalidInput(f"{quoted(spec)} is no reranker; give {_FORMS}.", argument="rerank")
