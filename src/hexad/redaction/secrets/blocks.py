"""Secrets that a block of lines holds: private keys, certificates, env files, Kubernetes secrets."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Generator, Iterable, Iterator
from typing import Final

from hexad.core.lazy import lazy_pattern
from hexad.redaction.secrets import values
from hexad.redaction.secrets.names import classify_name
from hexad.redaction.secrets.values import FROM_ENV_FILE, FROM_SHAPE, FROM_STRUCTURE, SecretSpan

BLOCK_LIMIT: Final = 65_536
"""Longest key block in characters; an END line farther away belongs to something else."""

_BEGIN = lazy_pattern(
    r"-{4,5} ?BEGIN (?P<label>[A-Z0-9 ]{0,40}?(?:PRIVATE KEY(?: BLOCK)?|CERTIFICATE|PKCS7|PKCS12)) ?-{4,5}"
)
_END = lazy_pattern(r"-{4,5} ?END ")
_BODY_LINES = lazy_pattern(
    r"(?:\\r|\\n|[\s\"'+,;>|#*])*+(?:[A-Za-z0-9+/=]{16,}+(?:\\r|\\n|[\s\"'+,;>|#*])*+)++"
)
_BASE64_RUN = lazy_pattern(r"[A-Za-z0-9+/]{20,}")
_PUTTY = lazy_pattern(
    r"^Private-Lines: \d{1,4}\r?\n((?:[A-Za-z0-9+/=]{1,64}\r?(?:\n|\Z)){1,200})", re.MULTILINE
)

# `service.env.txt` counts, code such as `vite-env.d.ts` and `app.env.py` does not. `#part-2` is a piece of a file.
_ENV_PATH = lazy_pattern(
    r"(?:^|[/\\])(?:\.env(?:rc)?(?:\.[^/\\]*)?|env|environment|\.?(?:flask|dot)env|[^/\\]+\.env"
    r"(?:\.(?!(?:d\.)?(?:[cm]?[jt]sx?|pyi?|go|rs|rb|php|java|kt|cs|cpp|c|h|md|rst|html?|css|lua|vue)(?:#|$))[^/\\#]*)?"
    r")(?:#part-\d+)?$",
    re.IGNORECASE,
)
_EXAMPLE_PATH = lazy_pattern(
    r"(?:^|[/\\._-])(?:example|sample|template|dist)s?(?=[._#-])[^/\\]*$|[._-](?:example|sample|template|dist)(?:#part-\d+)?$",
    re.IGNORECASE,
)
_ENV_FENCE = lazy_pattern(r"^[ \t]*(?:```|~~~)[ \t]*(?:dotenv|env|\.env)\b.*\n", re.MULTILINE | re.IGNORECASE)
_FENCE_END = lazy_pattern(r"^[ \t]*(?:```|~~~)", re.MULTILINE)
_ENV_LINE = lazy_pattern(
    r"[ \t]*(?:export[ \t]+|set[ \t]+)?([A-Za-z_][\w.-]{0,127})[ \t]*(?:=|:[ \t])[ \t]*", re.ASCII
)
_ENV_BLOCK_LINE = lazy_pattern(r"(?:export )?[A-Z][A-Z0-9_]{1,63}=(.*)", re.ASCII)
# A file's name in what stands around its lines; `process.env`, `import.meta.env` and an argument are code.
_ENV_MENTION = lazy_pattern(
    r"(?<![\w.)\]])(?!(?:process|meta|deno)\.env)[\w-]{0,40}\.env(?:rc)?(?:\.[a-z]{2,20})?(?![\w.(\[=]|[\"']\))",
    re.IGNORECASE | re.ASCII,
)
_CODE_PATH = lazy_pattern(
    r"\.(?:[cm]?[jt]sx?|pyi?|go|rs|rb|php|java|kt|cs|cpp|c|h|lua|vue)(?:#part-\d+)?$", re.I
)
_ENV_ENTRY = lazy_pattern(r"[ \t]*(?:export[ \t]+)?[A-Z][A-Z0-9_]{1,63}=", re.ASCII)
_QUOTED_ENTRY = lazy_pattern(r"[\"'](?=(?:export )?[A-Z][A-Z0-9_]{1,63}=)", re.ASCII)
_SWITCHES: Final = frozenset("true false yes no on off".split())
_SECOND_ENTRY = lazy_pattern(r"[\"'][ \t]+[A-Z][A-Z0-9_]{1,63}=[\"']")
_MENTION_LINES: Final = 5
_ENV_TEXT_NAMES: Final = 3
_ENV_TEXT_START = lazy_pattern(r"\s*+(?:#|(?:export )?[A-Z][A-Z0-9_]{1,63}=)", re.ASCII)
_COMMENT = lazy_pattern(r"(?<![ \t])[ \t]++#")

_KIND_SECRET = lazy_pattern(
    r"^[ \t]*+[\"']?kind[\"']?:[ \t]*+[\"']?secret[\"']?[ \t]*+\r?$", re.MULTILINE | re.IGNORECASE
)
_DOCUMENT_BREAK = lazy_pattern(r"^---", re.MULTILINE)
_DATA = lazy_pattern(r"^([ \t]*)(?:data|stringData):[ \t]*\r?\n", re.MULTILINE)
_CRYPT = lazy_pattern(
    r"\$2[abxy]?\$\d\d\$[./A-Za-z0-9]{53}"
    r"|\$(?:argon2(?:id|i|d)|scrypt)\$[\w=,$./+-]{30,200}"
    r"|\$krb5(?:asrep|tgs|pa)\$(?:\d{1,2}\$)?[^\s$:]{0,128}[$:][^\s\"']{32,8192}"
    r"|\$[15689y]\$[^\s:$\"']{1,40}\$[./A-Za-z0-9$]{20,120}"
    r"|\$apr1\$[./A-Za-z0-9]{1,8}\$[./A-Za-z0-9]{22}"
    r"|pbkdf2[_:]sha(?:1|256|512)[$:]\d{2,8}[$:][^\s\"'$:]{4,64}[$:][^\s\"'$:]{20,100}"
    r"|\{S?SHA(?:256|512)?\}[A-Za-z0-9+/]{26,128}={0,2}"
)
_CRYPT_MARKS: Final = (
    "$2",
    "$argon2",
    "$1$",
    "$5$",
    "$6$",
    "$8$",
    "$9$",
    "$krb5",
    "$y$",
    "$apr1$",
    "$scrypt$",
    "pbkdf2",
    "SHA}",
    "SHA256}",
    "SHA512}",
)


def find_key_blocks(text: str) -> Iterator[SecretSpan]:
    """Yield the bodies of private keys and certificates; the BEGIN and END lines stay readable.

    A body without its END line counts as far as it is base 64.
    """
    if "BEGIN " in text:
        ends = [end.start() for end in _END.finditer(text)]
        runs = [run.start() for run in _BASE64_RUN.finditer(text)]
        done = 0
        for begin in _BEGIN.finditer(text):
            if begin.start() < done:
                continue
            body = _block_body(text, begin.end(), ends, runs)
            if body is not None:
                private = "PRIVATE" in begin["label"]
                yield SecretSpan("private-key" if private else "certificate", *body, FROM_SHAPE)
                done = body[1]
    if "Private-Lines:" in text:
        for putty in _PUTTY.finditer(text):
            yield SecretSpan("private-key", putty.start(1), putty.end(1), FROM_SHAPE)


def _block_body(text: str, start: int, ends: list[int], runs: list[int]) -> tuple[int, int] | None:
    """Return the span of a key's body without the white space and line escapes around it.

    `ends` are where END lines begin, `runs` where base 64 does: looked up, so that a thousand BEGIN lines before one
    END are not a thousand searches.
    """
    at = bisect_left(ends, start)
    if at < len(ends) and ends[at] - start <= BLOCK_LIMIT:
        stop = ends[at]
        run = bisect_left(runs, start)
        if run == len(runs) or runs[run] >= stop:
            return None
    else:
        lines = _BODY_LINES.match(text, start, start + BLOCK_LIMIT)
        if lines is None:
            return None
        stop = lines.end()
    body = text[start:stop]
    lead = len(body) - len(_strip_breaks(body, left=True))
    return start + lead, start + lead + len(_strip_breaks(body[lead:], left=False))


def _strip_breaks(body: str, *, left: bool) -> str:
    before = None
    while before != body:
        before = body
        body = body.lstrip() if left else body.rstrip()
        for escape in ("\\n", "\\r"):
            body = body.removeprefix(escape) if left else body.removesuffix(escape)
    return body


def find_password_hashes(text: str) -> Iterator[SecretSpan]:
    """Yield salted password hashes in the notations of crypt, Argon2, LDAP and Django."""
    if ("$" in text or "SHA" in text or "pbkdf2" in text) and any(mark in text for mark in _CRYPT_MARKS):
        for match in _CRYPT.finditer(text):
            yield SecretSpan("password-hash", match.start(), match.end(), FROM_SHAPE)


def is_env_path(path: str | None) -> bool:
    """Tell whether `path` names an env file: `.env`, `.env.local`, `.envrc`, `production.env`.

    So do `env`, `environment`, `dotenv`, `.flaskenv`, `service.env.txt`, and any of them with `#part-N` behind it. An
    example of one (`.env.example`, `sample.env`) is a text like any other.
    """
    return (
        path is not None
        and "env" in path.lower()  # as in few paths
        and _ENV_PATH.search(path) is not None
        and _EXAMPLE_PATH.search(path) is None
    )


def find_env_values(text: str, *, path: str | None, kept_names: frozenset[str]) -> Iterator[SecretSpan]:
    """Yield every value of an env file, whatever it holds, but those of the names in `kept_names`.

    An env file is told by its path. Without one, a fenced block marked `env` counts, lines `NAME=value` beside the name
    of an env file (what a tool read, what somebody pasted), and a text that is nothing but such lines, three of them,
    or two where a name among them announces a secret. Empty values, references such as `${OTHER}` and evident
    placeholders stay.
    """
    if is_env_path(path) or _is_env_text(text):
        yield from _env_lines(text, 0, len(text), kept_names)
        return
    if "env" not in text and "ENV" not in text:
        return
    # Code that reads settings has their lines in its tests.
    if ".env" in text and not (path and _CODE_PATH.search(path)):
        for start, stop in _env_blocks(text):
            yield from _env_lines(text, start, stop, kept_names)
    at = 0
    while (fence := _ENV_FENCE.search(text, at)) is not None:
        closing = _FENCE_END.search(text, fence.end())
        stop = closing.start() if closing else len(text)
        yield from _env_lines(text, fence.end(), stop, kept_names)
        at = closing.end() if closing else len(text)


def _is_env_text(text: str) -> bool:
    names = []
    if _ENV_TEXT_START.match(text) is None:
        return False
    for line in text.splitlines():
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        entry = _ENV_BLOCK_LINE.fullmatch(line)
        if entry is None or _SECOND_ENTRY.search(line):
            return False
        names.append(line.partition("=")[0].removeprefix("export "))
    return len(names) >= _ENV_TEXT_NAMES or (
        len(names) >= 2 and any(classify_name(name) is not None for name in names)
    )


def _env_blocks(text: str) -> Iterator[tuple[int, int]]:
    """Yield where two or more lines `NAME=value` stand beside the name of an env file: before it or after it."""
    mentioned = set(_line_numbers(text, (match.start() for match in _ENV_MENTION.finditer(text))))
    if not mentioned:
        return
    near = {line + step for line in mentioned for step in range(-_MENTION_LINES, _MENTION_LINES + 1)}
    at, first, start, entries, stop = 0, 0, 0, 0, 0
    for number, line in enumerate([*text.split("\n"), "end"]):
        entry = _entry_in(line) if at <= len(text) else None
        if entry is not None:
            if not entries:
                first, start = number, at + entry
            entries, stop = entries + 1, at + len(line)
        elif entries and line.strip() and not line.lstrip().startswith("#"):
            if entries >= 2 and not near.isdisjoint(range(first, number + 1)):
                yield start, stop
            entries = 0
        at += len(line) + 1


def _line_numbers(text: str, places: Iterable[int]) -> Iterator[int]:
    """Give the number of the line that each place is in, from 0; places come in order."""
    line, at = 0, 0
    for place in places:
        line += text.count("\n", at, place)
        at = place
        yield line


def _entry_in(line: str) -> int | None:
    """Return where a line `NAME=value` begins, also behind the quote that opens a JSON string; None for another."""
    if _ENV_ENTRY.match(line) is not None:
        return 0
    quoted = _QUOTED_ENTRY.search(line)
    return None if quoted is None else quoted.end()


def _env_lines(text: str, start: int, stop: int, kept_names: frozenset[str]) -> Iterator[SecretSpan]:
    at = start
    while at < stop:
        line_end = text.find("\n", at, stop)
        line_end = stop if line_end < 0 else line_end
        entry = _ENV_LINE.match(text, at, line_end)
        if entry is None:
            at = line_end + 1
            continue
        value = _env_value(text, entry.end(), line_end, stop)
        content = text[slice(*value)]
        is_empty = not content.strip("\0 \t\r\n") or content.lower() in _SWITCHES
        if not is_empty and entry[1] not in kept_names and not values.says_placeholder(content):
            yield SecretSpan("env-value", *value, FROM_ENV_FILE)
        at = max(line_end, value[1]) + 1


def _env_value(text: str, start: int, line_end: int, stop: int) -> tuple[int, int]:
    """Return the span of one env value: to its closing quote, which may be lines below, or to a comment."""
    quote = text[start : start + 1]
    if quote in ('"', "'"):
        closing = text.find(quote, start + 1, line_end)
        if closing < 0:
            closing = text.find(quote, start + 1, min(stop, start + BLOCK_LIMIT))
            following = text[closing + 1 : closing + 2] if closing >= 0 else "?"
            closing = closing if following in ("", "\n", "\r", " ", "#") else -1
        if closing >= 0:
            return start + 1, closing
        start += 1
    comment = _COMMENT.search(text, start, line_end)
    end = comment.start() if comment else line_end
    return start, start + len(text[start:end].rstrip())


def find_kubernetes_secrets(text: str) -> Iterator[SecretSpan]:
    """Yield the values under `data` and `stringData` of every YAML document of kind Secret."""
    if "\n" not in text or _KIND_SECRET.search(text) is None:
        return
    starts = [0, *(match.start() for match in _DOCUMENT_BREAK.finditer(text))]
    for start, stop in zip(starts, [*starts[1:], len(text)], strict=True):
        if _KIND_SECRET.search(text, start, stop) is None:
            continue
        done = 0
        for data in _DATA.finditer(text, start, stop):
            if data.start() >= done:  # else it is indented deeper than one whose lines were looked at
                done = yield from _data_entries(text, data, stop)


def _data_entries(text: str, data: re.Match[str], stop: int) -> Generator[SecretSpan, None, int]:
    """Yield the values of the lines that are indented deeper than the `data:` line, block texts included; return where
    they end.
    """
    at = data.end()
    while at < stop:
        line_end = text.find("\n", at, stop)
        line_end = stop if line_end < 0 else line_end
        line = text[at:line_end]
        content = line.strip()
        if content and not content.startswith("#"):
            if len(line) - len(line.lstrip()) <= len(data[1]):
                return at
            _, colon, rest = content.partition(":")
            value = rest.strip().strip("\"'") if colon and (rest[:1] in (" ", "\t", "")) else content
            if len(value) >= 6 and not value.startswith(("|", ">")) and not values.is_placeholder(value):
                start = at + line.rindex(value)
                yield SecretSpan("kubernetes-secret", start, start + len(value), FROM_STRUCTURE)
        at = line_end + 1
    return stop
