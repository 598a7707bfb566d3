"""Tokens of formats that no table has: what a machine drew, where it is neither a digest nor an identifier.

A run of token characters is words and a rest: `acme_live_8fJ…`. The rest must look drawn (`randomness`). How much of it
is needed is decided by the words: ones that say "token" need the least, ones that are put before identifiers (`msg`,
`cus`, `sha512`) mean that nothing is secret. A run without words must be long and of mixed cases, and stand neither in
an address nor in a block of data nor behind a name such as `etag`. Hexadecimal is a digest until a word says otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from hexad.core.lazy import lazy_pattern
from hexad.redaction.secrets import values
from hexad.redaction.secrets.addresses import is_address
from hexad.redaction.secrets.randomness import random_score
from hexad.redaction.secrets.readings import is_written_text
from hexad.redaction.secrets.values import FROM_SHAPE, SecretSpan, words_of

_CANDIDATE = lazy_pattern(
    r"(?<![A-Za-z0-9+/=_.@#%~$?&\\-])[A-Za-z0-9][A-Za-z0-9+/_.=~-]{19,4096}+(?![A-Za-z0-9+/_.=~@%\\({\[<-])"
)
_JOINT = lazy_pattern(r"[_.~-]+")
_HEAD = lazy_pattern(
    r"[A-Za-z]{1,16}\d{0,2}|v\d{1,2}|[A-Z]{2,6}\d{1,3}|[a-z]{1,3}\d[a-z]{0,3}|sha\d{1,3}|us\d+"
)
_UUID = lazy_pattern(r"[0-9A-Za-z]{8}-(?:[0-9A-Za-z]{4}-){3}[0-9A-Za-z]{12}")
_NAME_BEFORE = lazy_pattern(
    r"<([A-Za-z][\w:-]{0,40})>\Z|([A-Za-z][\w-]{0,40})[\"'`]?\]?\s{0,16}(?::=|=>|[:=])\s{0,3}[bBfrRu]{0,2}[\"'`]?\Z"
)
_PLAIN = lazy_pattern(r"[A-Za-z0-9_.~-]+")
_LONG_LINE = lazy_pattern(r"[ \t\"'+|>#*]{0,16}[A-Za-z0-9+/_-]{40,}={0,2}[\"',]{0,2}[ \t]*\r?(?:\n|\Z)")
_MASK = lazy_pattern(r"[_.-]?(?:\.{3}|\u2026|\*{3}|#{3})")
_SAYING: Final = frozenset(
    "access api apikey auth key live pat priv private prod production rk sandbox sat secret sk svc tok token".split()
)
"""Of which words, in front of a random rest, a token says what it is."""
_SECRET: Final = frozenset("auth key pat priv private secret sk token".split())
_PUBLIC: Final = frozenset("pk pub public publishable pubkey".split())
# What is put before identifiers, digests and addresses: of messages, calls, runs and files (OpenAI, Anthropic,
# LangChain), of customers and payments (Stripe), of machines and networks (AWS), of contents (npm, Go, Docker, Nix).
_OTHERS: Final = frozenset(
    """
    acct addr address alert asst attempt batch blob branch bucket build cache call card cart cert ch channel
    chat chatcmpl checksum chunk cid client cmpl commit conv conversation ctx cursor cus customer data dest
    device digest doc dp dspy ed25519 embd entry error etag event evt export fc file fingerprint flow font
    form frame fs gen geo group h1 hash host id ids im image img in index integrity inv invite invoice item
    job lc li link log main md5 mem member message meta mod model msg mtg node nonce note obj object op
    order org page para part path pi pid plan pm po policy post price proc profile proj project prop py ref
    rel release rep repo req request res resource resp response result rev ring role room rs rule run sample
    seed seg seq sess seti sha sha1 sha224 sha256 sha384 sha512 shard si sig signature site snapshot span
    src step store sub subnet table tag task team test tests thread ticket tmp tool toolu topic trace tree
    trip ts tx txn txr type uid unit upload urn user usr uuid var vendor version vol vpc vs web wf window
    work ws zone
    """.split()
)
_DIGESTS: Final = frozenset(
    "digest ed25519 etag h1 hash integrity md5 sha1 sha224 sha256 sha384 sha512".split()
)
_NAMED_OTHERS: Final = (_OTHERS | _PUBLIC) - frozenset("client main op res src test web".split()) | frozenset(
    """
    base64 body cert certificate cipher ciphertext content encoded icon iv logo modulus next payload png previous prev
    salt sum svg thumbprint x509
    """.split()
)
"""Words of names beside which a drawn value is no secret."""
_LEAST_SCORE: Final = 4.0
_ID_LIMIT: Final = 40
"""Identifiers are shorter, or hexadecimal."""


def find_drawn(text: str, *, names: bool = False) -> Iterator[SecretSpan]:
    """Yield the tokens that a machine drew and no table describes; in `names`, those that say they are tokens."""
    for match in _CANDIDATE.finditer(text):
        start, run = match.start(), match[0].rstrip(".")
        if not values.has_digit(run):
            continue
        name = ""
        if "=" in run.rstrip("="):
            name, _, run = run.rpartition("=") if not run.endswith("=") else run.rstrip("=").rpartition("=")
            start = match.end() - len(match[0]) + len(name) + 1
        if (
            len(run) >= 20
            and _is_drawn(text, start, run, name, names=names)
            and not _MASK.match(text, start + len(run))
            and not is_address(run)
        ):
            yield SecretSpan("token", start, start + len(run), FROM_SHAPE)


def _is_drawn(text: str, start: int, run: str, name: str, *, names: bool) -> bool:
    heads, body = _split(run)
    words = {word.lower() for word in heads}
    saying = not _SAYING.isdisjoint(map(str.lower, _JOINT.split(run)))
    drawn = body.translate(_SIGNS)
    if not _PUBLIC.isdisjoint(words) or values.is_token_filler(body[:128]) or _is_file_name(run):
        return False
    hexadecimal = values.is_hex(drawn.lower()) or run.startswith("0x")
    is_id = hexadecimal or len(drawn) < _ID_LIMIT or not _DIGESTS.isdisjoint(words)
    if is_id and not saying and not _OTHERS.isdisjoint(words):
        return False
    if not _is_long_enough(run, body, drawn, bool(heads), saying, hexadecimal):
        return False
    if saying or names:
        return saying
    alone = len(text) - len(run) < 16 and text.strip() == run
    if not heads and (
        values.is_typed_row(run) or is_written_text(run) or not (alone or _PLAIN.fullmatch(run))
    ):
        return False
    return _is_apart(text, start, name) and not _is_data(text, start, start + len(run))


def _is_long_enough(run: str, body: str, drawn: str, headed: bool, saying: bool, hexadecimal: bool) -> bool:
    """Tell whether the drawn part of a run is one, and as long as what stands before it demands."""
    if headed and _UUID.fullmatch(body):
        return saying
    if hexadecimal:
        least = 32 if saying else 40
        apart = "_" in run or not _SECRET.isdisjoint(run.lower().split("-"))
        return headed and apart and least <= len(drawn) <= 128 and len(set(drawn)) > 6
    mixed = not (drawn.islower() or drawn.isupper())
    least = (20 if saying else 24 if headed else 32) + (0 if mixed else 4 if saying else 8)
    most = 4_096 if "." in body else 256
    digits = sum(map(str.isdigit, drawn[:64]))
    if not least <= len(drawn) <= most or not 3 - saying <= digits <= 0.6 * min(len(drawn), 64):
        return False  # what is digits for the most part are numbers: the path of a picture
    return max(map(len, _JOINT.split(body))) >= 8 and random_score(drawn[-40:]) >= _LEAST_SCORE


_SIGNS: Final = str.maketrans("", "", "_.~-+/=")


def _split(run: str) -> tuple[list[str], str]:
    """Return the words before the drawn part of a run, and that part."""
    heads: list[str] = []
    at = 0
    for joint in _JOINT.finditer(run):
        word = run[at : joint.start()]
        if _HEAD.fullmatch(word) is None or len(heads) == 4:
            break
        heads.append(word)
        at = joint.end()
    return heads, run[at:]


def _is_file_name(run: str) -> bool:
    """Tell whether a run is a path, an address or the name of a file."""
    stem, dot, ending = run.rpartition(".")
    if dot and ending.isalpha() and len(ending) <= 5 and stem:
        return True
    return "/" in run and (any(sign in run for sign in "._~-") or run.count("/") > len(run) // 20)


def _is_apart(text: str, start: int, name: str) -> bool:
    """Tell whether no name before the run says that it is an identifier, a digest or data."""
    window = text[max(0, start - 64) : start]
    named = _NAME_BEFORE.search(window) if not name else None
    written = name if named is None else named[1] or named[2]
    words = {*words_of(written), written.lower()}
    return _NAMED_OTHERS.isdisjoint(words) and not window.endswith(("base64,", "ssh-rsa ", "ssh-ed25519 "))


def _is_data(text: str, start: int, end: int) -> bool:
    """Tell whether a run is one line of many, as pictures and keys are written."""
    if "-----BEGIN" in text:
        return True
    line = text.rfind("\n", 0, start)
    above = text.rfind("\n", max(0, line - 200), line) if line > 0 else -1
    below = text.find("\n", end, end + 8)
    return (line > 0 and _LONG_LINE.match(text, above + 1, line + 1) is not None) or (
        below > 0 and _LONG_LINE.match(text, below + 1) is not None
    )
