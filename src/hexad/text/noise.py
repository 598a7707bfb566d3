"""Whether a text is worth remembering at all: rules for what memory systems fill up with. They know English.

Each rule is about all of a text, never about a part: a sentence that means something saves the rest.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Final

from hexad.core.lazy import lazy_pattern
from hexad.text import noise_words as w
from hexad.text.normalize import fold

CONSIDERED_CHARACTERS: Final = 2_000


_TRACE = lazy_pattern(
    r"(?m)^Traceback \(most recent call last\)|^[^\S\n]+File \"[^\"\n]+\", line \d+"
    r"|^[^\S\n]+at [\w$./<>-]+ ?\([^)\n]*:\d+(?::\d+)?\)|^stack backtrace:|^thread '[^'\n]*' panicked"
    r"|^goroutine \d+ \["
)


_LOG_LINE = lazy_pattern(
    r"(?i)^\W{0,3}(?:\d{4}-\d\d-\d\d[ t]\d\d:\d\d|\d\d:\d\d(?::\d\d)?|[a-z]{3} [ \d]\d \d\d:\d\d:\d\d"
    r"|\d{1,2}/[a-z]{3}/\d{4})"
    r"|^\W{0,3}(?:trace|debug|info|notice|warn(?:ing)?|error|fatal)\b[\]:| ]|^(?:time|ts|level)=\S+ "
    r"|^(?:GET|POST|PUT|PATCH|DELETE|HEAD) /\S* \d{3}\b|^(?:npm|yarn|pip) (?:notice|warn|err)"
)


# A line that stands alone must say more of where it is from than a line among others.
_ONE_LOG_LINE = lazy_pattern(
    r"(?i)^\W{0,3}\d{4}[-/]\d\d[-/]\d\d[ t]\d\d:\d\d(?::\d\d)?\S*\s+\W?(?:[\w./-]+\W{0,2}\s+)?\W?"
    r"(?:trace|debug|info|notice|warn(?:ing)?|err(?:or)?|crit(?:ical)?|fatal|panic)\b"
    r"|^(?:<\d+>)?[a-z]{3} [ \d]\d \d\d:\d\d:\d\d \S+ [\w./-]+(?:\[\d+\])?: "
    r"|^\d{1,3}(?:\.\d{1,3}){3} \S+ \S+ \[\d\d/[a-z]{3}/\d{4}:"
    r"|^(?:trace|debug|info|warn(?:ing)?|error|fatal|critical):[\w.]+:\s?\S"
    r"|^\[(?:trace|debug|info|warn(?:ing)?|error|fatal|critical)\s?\]\s\S"
    r"|^(?:time|ts|level|lvl)=\S+ .*\b\w+=\S"
    r"|^\s*File \"[^\"\n]+\", line \d+|^\s*at [\w$.<>/]+ ?\([^)\n]*:\d+(?::\d+)?\)\s*$"
)
_LOG_FIELDS = lazy_pattern(
    r"\"(?:level|severity|lvl|levelname)\"\s*:.*\"(?:msg|message|event)\"\s*:|"
    r"\"(?:msg|message|event)\"\s*:.*\"(?:level|severity|lvl|levelname)\"\s*:"
)


_OF_A_TRACE = lazy_pattern(
    r"^Traceback |^\s+File \"|^\s{2,}\S|^\t\S|^panic: |^fatal error: |^[\w./*()]+\([^()]*\)$|^\s+at "
    r"|^\s*\.\.\. \d+ more|^stack backtrace:|^thread '|^goroutine \d+"
    r"|^\s*\d+: |^(?:Caused by: )?(?:[\w.$]+\.)?\w*(?:Error|Exception|Warning|Panic|Interrupt|Exit)\b"
    r"|^During handling of"
    r"|^The above exception|^note: run with"
)


_TRACE_WORDS: Final = 6


def is_program_output(text: str) -> bool:
    """Whether a text is a stack trace or a log, and nobody says anything about it in words of their own."""
    text = text[: 4 * CONSIDERED_CHARACTERS]
    lines = [line for line in text.splitlines() if line.strip()]
    logged = sum(_LOG_LINE.match(line) is not None for line in lines)
    if len(lines) > 1 and logged == len(lines):
        return True
    if len(lines) == 1:
        line = lines[0]
        is_object = line.lstrip().startswith("{") and line.rstrip().endswith("}")
        if _ONE_LOG_LINE.match(line) or (is_object and _LOG_FIELDS.search(line)):
            return True
    if not _TRACE.search(text):
        return False
    prose = [line for line in lines if not _OF_A_TRACE.match(line) and not _LOG_LINE.match(line)]
    return sum(len(line.split()) for line in prose) <= _TRACE_WORDS


def is_log_line(line: str) -> bool:
    """Whether a line is one that a program writes to its log."""
    return _LOG_LINE.match(line) is not None


RULES: Final = {
    "empty": "it has no words, or nothing but what was taken out",
    "small_talk": "greetings, thanks and assent say nothing later",
    "announcement": "it says what an agent was about to do, or how far it was",
    "boilerplate": "it is what models say to everybody, or are told to be",
    "trace": "a stack trace or a program's output without a word about it",
    "test": "it was written to see whether writing works, or is a form that nobody filled in",
    "heartbeat": "a program reported that it runs",
    "tool": "a tool's call or its answer, without a word about it",
    "nothing": "it says that there was nothing to say",
    "page": "what stands on every web page",
    "data": "an id, a time, a progress bar or encoded bytes, without a word about it",
    "listing": "names of files, without a word about them",
}
"""The rules by name, with why what they find is junk."""

_LONG: Final = 600
_CONSIDERED: Final = 8_000
_ANNOUNCED: Final = 320
_LISTED_LEAST: Final = 3
_WORD: Final = lazy_pattern(r"[^\W_]+(?:['-][^\W_]+)*")
_SENTENCE: Final = lazy_pattern(r"(?<=[.!?\u2026])\s+|\s*\n\s*|\s[|\u00b7\u2022]\s")
_PLACEHOLDER: Final = lazy_pattern(r"\[REDACTED:[a-z0-9_-]{1,64}\]")
_SPEAKER: Final = lazy_pattern(r"(?im)^\s*(?:user|assistant|human|ai|agent|bot|system)\s*:\s*")


def junk_rule(text: str) -> str | None:
    """Return the rule (of `RULES`) by which a text is junk; None for one that may mean something.

    >>> junk_rule("Thanks, sounds good!"), junk_rule("Deploys happen on Tuesday.")
    ('small_talk', None)
    """
    bare = _PLACEHOLDER.sub(" ", text).strip()
    plain = _SPEAKER.sub("", bare[:_CONSIDERED]).strip().replace("\u2019", "'")
    words = _WORD.findall(fold(plain[:_LONG]))
    if not words:
        return "empty"
    if not any(char.isalpha() for char in plain) and bare != text.strip():
        return "empty"
    return _of_form(text, plain, words) or (_of_words(plain, words) if len(plain) <= _LONG else None)


def _of_form(text: str, plain: str, words: list[str]) -> str | None:
    """Return the rule for what is no speech at all, however long."""
    if is_program_output(text):
        return "trace"
    lines = [line for line in map(str.strip, plain.splitlines()) if line]
    if all(w.PROGRAM_LINE.match(line) or is_log_line(line) for line in lines) and (
        len(lines) > 1 or w.PROGRAM_LINE.match(lines[0])
    ):
        return "trace"
    if w.WRAPPED.match(plain):
        return "tool" if re.match(r"(?i)<(?:function|invoke|tool|local|command)", plain) else "boilerplate"
    if w.PROMPT.match(plain):
        return "boilerplate"
    if plain[:1] in "{[" and _is_tool_json(plain):
        return "tool"
    if all(w.ENCODED.match(line) and _is_mixed(line) for line in lines):
        return "data"
    if len(lines) >= _LISTED_LEAST and all(w.LISTED.match(line) for line in lines):
        return (
            "listing"
            if sum(w.FILE_NAME.search(line) is not None for line in lines) * 2 >= len(lines)
            else None
        )
    if plain.startswith("<") and plain.endswith(">"):
        found_words = _WORD.findall(fold(w.MARKUP.sub(" ", plain)))
        return "page" if all(word in w.PAGE_WORDS for word in found_words) else None
    if (
        w.BAR.search(plain)
        and len([word for word in words if word.isalpha() and len(word) > 2]) <= w.BAR_WORDS
    ):
        return "data" if re.search(r"\d\s?%|it/s|[kMG]i?B/s|\d+/\d+", plain) else None
    return None


def _of_words(plain: str, words: list[str]) -> str | None:
    if w.TEST.match(plain) or _is_test(plain):
        return "test"
    if w.HEARTBEAT.match(plain):
        return "heartbeat"
    if any(map(str.isdigit, plain)) and w.CLOCK.match(plain) and w.MOMENT.search(plain):
        return "data"
    if len(words) <= w.HOLLOW_MOST and "?" not in plain and all(word in w.HOLLOW for word in words):
        return "small_talk"
    if len(words) >= w.PAGE_LEAST and all(word in w.PAGE_WORDS for word in words):
        return "page"
    rules = [
        rule
        for part in _SENTENCE.split(plain)
        if part.strip() and (rule := _of_sentence(part.strip())) != "talk"
    ]
    if not rules:
        return "small_talk" if w.MARKS & set(words) or w.ASSENT.match(plain) else None
    if None in rules or ("announcement" in rules and (len(plain) > _ANNOUNCED or w.OUTCOME.search(plain))):
        return None
    return rules[0]


def _of_sentence(sentence: str) -> str | None:
    """Return by which rule a sentence says nothing, `talk` for what goes with anything, None for what may mean more."""
    asks, sentence = sentence.endswith("?"), sentence.rstrip(" .!?:;,\u2026")
    words = _WORD.findall(fold(sentence))
    if all(word in w.TALK for word in words):
        return "talk"
    if w.BOILERPLATE.match(sentence):
        return "boilerplate"
    if w.TOOL.match(sentence):
        return "tool"
    if w.NOTHING.match(sentence) and all(word in w.EMPTY for word in words) and len(words) > 1:
        return "nothing"
    if w.TALKER.match(sentence) and all(word in w.TALKED for word in words):
        return "small_talk"
    if w.FURNITURE.match(sentence) or (
        len(words) >= w.PAGE_LEAST and all(word in w.PAGE_WORDS for word in words)
    ):
        return "page"
    if (w.ANNOUNCEMENT.match(sentence) or _is_progress(words)) and not asks:
        return "announcement"
    return None


def _is_progress(words: list[str]) -> bool:
    """Whether somebody says how far the work is, and not a word of which."""
    vocabulary = set(words)
    done = w.WORK_DONE & vocabulary
    if not done or w.BINDING & vocabulary or not all(word in w.WORKING or word.isdigit() for word in words):
        return False
    return not {"is", "are"} & vocabulary or any(word in w.STANDING or word.endswith("ing") for word in done)


def _is_test(plain: str) -> bool:
    """Whether nothing is said but that this is a test, or a form has blanks that nobody filled in."""
    words = _WORD.findall(fold(plain.replace("_", " ")))
    if (
        w.TEST_MARKS & set(words)
        and not {"first", "before", "always", "never", "must"} & set(words)
        and all(word in w.TEST_WORDS or word.isdigit() for word in words)
    ):
        return True
    blanks = w.BLANKS.findall(plain)
    return len(blanks) > 1 and len(_WORD.findall(w.BLANKS.sub(" ", plain))) <= 3 * len(blanks)


def _is_mixed(line: str) -> bool:
    """Whether a long word is none that anybody wrote: capitals, small letters and digits, or digits in most places."""
    digits = sum(char.isdigit() for char in line)
    both = any(map(str.islower, line)) and any(map(str.isupper, line))
    return (both and digits > 0) or digits * 3 > len(line)


def _is_tool_json(plain: str) -> bool:
    try:
        value = json.loads(plain)
    except (ValueError, RecursionError):
        return False
    calls = value if isinstance(value, list) else [value]
    return bool(calls) and all(isinstance(call, Mapping) and w.TOOL_KEYS & set(call) for call in calls)
