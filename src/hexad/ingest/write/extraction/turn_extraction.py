"""What a text says that should last, and what kind of text it is: read by rules from its own words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from hexad.core.lazy import lazy_pattern
from hexad.memory.memory import Trust
from hexad.redaction.injection.detector import instructions_in
from hexad.text.claims.facts import corrects, tells_fact
from hexad.text.claims.reader import CHARACTERS_LIMIT
from hexad.text.commitments import SENTENCE_CHARS_LIMIT, Commitment, commitment_of, is_doubtful
from hexad.text.memory_requests import SpeechAct, requested
from hexad.text.noise import is_program_output
from hexad.text.summary.code_outline import outline
from hexad.text.summary.sentences import sentences

DEFAULT_KIND: Final = "note"
FACT: Final = "fact"
CORRECTION: Final = "correction"
"""Tag of what puts something right that was said before."""
_BINDING: Final = frozenset({Trust.USER, Trust.AGENT})
"""Whose words may decide something; what a tool or a page says is data."""
_SENTENCES_OF_A_NOTE: Final = 3
_SPEECH_CHARS_LIMIT: Final = 20_000
"""What is longer was pasted and not said."""
_CODE_LINES: Final = 3
_BLANK_LINE: Final = re.compile(r"\n[ \t]*\n")
_LIST_MARK: Final = lazy_pattern(r"^\s*(?:[-*+•]|\d+[.)])\s+")
_MATERIAL: Final = lazy_pattern(
    r"(?i)^(?!\W*(?:decision|decided|convention|rule|preference|todo|note)\b).*"
    r"\b(?:this|these|following|below|here|text|sentence|log|output|error|message)\b[^:\n]{0,40}:(?:\s|$)"
)
"""What leads to something that is shown and not said: "Summarize the following text: …"."""

_TASK_POLITE: Final = (
    r"(?i)^\W*(?:(?:ok(?:ay)?|hi|hey|hello|now|so|and|please|can you|could you|would you|i want you to"
    r"|i need you to)\b,? *)*"
)
_HANDLES: Final = (
    r"(?:translate|transcribe|proof-?read|rephrase|reword|rewrite|paraphrase|summari[sz]e|spell-?check"
    r"|tokeni[sz]e|transliterate"
    r"|say|type|echo|print|repeat(?: after me)?|how (?:do|would|can|should) (?:i|you|we|one) (?:say"
    r"|write|put|translate))"
)
_HANDS_OVER: Final = lazy_pattern(rf"{_TASK_POLITE}{_HANDLES}\b[^:\n]{{0,80}}:(?:\s|$)")
"""What leads to a text that something is to be done with: "Translate to French: …"."""
_HANDLED: Final = lazy_pattern(
    rf"{_TASK_POLITE}(?:translate|transcribe|proof-?read|rephrase|reword|paraphrase|spell-?check"
    rf"|transliterate|how (?:do|would|can|should)"
    r" (?:i|you|we|one) (?:say|write|put|translate)|what(?:'s| is) .{2,200} in (?:french|german"
    r"|spanish|italian|english))\b"
)
"""A sentence that has in it what is to be worked on: "Translate I prefer tabs to French"."""
_WHOLE_TURN: Final = lazy_pattern(
    rf"{_TASK_POLITE}(?:translate|transcribe|proof-?read|rephrase|reword|rewrite|paraphrase"
    rf"|spell-?check|transliterate)"
    r"(?: (?:this|that|it|these|the (?:above|following|text|sentences?)))?(?:,? (?:please|for me))?"
    r"(?:,? (?:in)?to (?:an? )?[\w-]+(?: [\w-]+)?)?(?:,? (?:please|for me))?\W*$"
)
"""An order that names no text: all else in the turn is its text."""
_QUOTED_LINE: Final = lazy_pattern(r"(?m)^[ \t]*(?:[-*+•] +)?(?:>|&gt;).*$")
_TAKES_BACK_AT_END: Final = lazy_pattern(
    r"(?i)(?:\.\.+|[…,;(–—]|--?)\s*(?:(?:haha|lol|ha|no|oh|just|only|i'm|i am|ok|sorry|nah|nope)\b[,.!]? *)*"
    r"(?:kidding|joking|jk|j/k|never ?mind|psych|not really|(?:scratch|strike|forget) that"
    r"|not!)(?: haha| lol)?\W*$"
)
"""How somebody takes a sentence back at its end: "I prefer tabs... just kidding!"."""
_QUOTED: Final = lazy_pattern(
    r"[\"“«](?P<double>[^\"”»]{2,1500})[\"”»]|„(?P<low>[^“”]{2,1500})[“”]"
    r"|[「『](?P<corner>[^」』]{2,1500})[」』]|`(?P<code>[^`\n]{2,1500})`"
    r"|(?<!\w)['‘](?=\w)(?P<single>(?:[^'’\n]|(?<=\w)['’](?=\w)){2,1500})['’](?!\w)"
)
_IN_PERSON: Final = lazy_pattern(r"(?i)(?:i|i'm|we|my|our|let's|never|always|please|don't)\b")
_WORDS_OF_A_SENTENCE: Final = 3
"""A quotation of fewer words is a name, whatever mark it ends with."""
_TAKES_BACK: Final = lazy_pattern(
    r"(?i)^\W*(?:(?:actually|well|oh|no|sorry|oops|hm+|ah)\b[,.!—–-]* *)*"
    r"(?P<what>wait\b|(?<=actually )no\b|(?<=actually, )no\b|(?<=no )actually\b|(?<=no, )actually\b"
    r"|(?P<whole>(?:just |only )?(?:kidding|joking)\b|never ?mind\b"
    r"|(?:scratch|strike|forget|ignore) (?:that|what i (?:just )?said)\b|i take (?:that|it) back\b"
    r"|i (?:didn't|did not) mean (?:that|it)\b)|i meant\b|make that\b|or rather\b|i was wrong\b|my mistake\b"
    r"|correction\b)[,.:!—–-]* *"
)
"""How somebody takes back what they said in the same breath."""
_MENDS: Final = lazy_pattern(
    r"(?i)(?<=\w)[\"')]?\s*(?:[,;–—…]|-{1,3}|\.\.+)\s*(?=(?:(?:oh|ah|er|uh|um|hm+|well|sorry|oops)\b[,.!]? *)*"
    r"(?:no,? (?:wait|actually|sorry|scratch|strike|make that)|wait,? (?:no|actually)|actually,? no|sorry,? i meant?"
    r"|i meant|(?:scratch|strike) that|make that|or rather|correction)\b|(?<=[–—…. -])no,)"
)
"""How somebody mends a sentence while saying it: "I prefer tabs -- no wait, spaces"."""
_FRAGMENT_WORDS: Final = 3
_PAUSES: Final = (",", ".", ":", "!", "-", "–", "—")
_JOKING: Final = ("kidding", "joking")


class LastingStatement(NamedTuple):
    """A sentence that should last: its kind, its words, and whether it puts right what was said before."""

    kind: str
    text: str
    corrects: bool = False


def extracts(text: str) -> Iterator[LastingStatement]:
    """Yield what a turn of a person says that should last, in its order; nothing of what is only quoted or shown.

    >>> [(each.kind, each.text) for each in extracts("Thanks! We chose Postgres. I live in Porto. Can you help?")]
    [('decision', 'We chose Postgres.'), ('fact', 'I live in Porto.')]
    """
    if is_program_output(text) or len(text) > _SPEECH_CHARS_LIMIT:
        return
    yield from filter(None, _lasting(text))


def _lasting(text: str) -> list[LastingStatement | None]:
    """Return what each sentence says that should last, None where it is nothing, or was taken back right after."""
    is_long = len(text) > CHARACTERS_LIMIT
    before, rectifies = "", False
    found: list[LastingStatement | None] = []
    for whole, sentence in _said(text):
        if _WHOLE_TURN.match(sentence):
            return []
        if _HANDS_OVER.match(whole) or (_MATERIAL.match(whole) and requested(sentence) is None):
            break
        if _HANDLED.match(sentence) or _TAKES_BACK_AT_END.search(sentence.replace("’", "'")):
            found, before, rectifies = [*found, None], "", False
            continue
        if (repair := _MENDS.search(sentence)) is not None:  # what stood before it was not meant
            found.append(None)
            whole = sentence = sentence[repair.end() :]
        takes_back = _TAKES_BACK.match(sentence.replace("’", "'"))
        if takes_back is not None and takes_back["what"].casefold().endswith(_JOKING):
            found[-1:], before, rectifies = [None], "", False
            continue
        puts_right, taken_back = corrects(sentence), takes_back is not None
        said = sentence if takes_back is None else sentence[takes_back.end() :]
        kind: str | None = _kind_of_request(said) or commitment_of(said)
        words = sentence
        if kind is None and not is_long and not is_doubtful(said):
            if tells_fact(said, context=puts_right or rectifies or taken_back):
                kind = FACT
            elif before and tells_fact(said, context=True):
                kind, words = FACT, f"{before} {sentence}"
        if takes_back is not None and found and (last := found[-1]) is not None:
            mends = kind == last.kind or _is_fragment(said, takes_back[0])
            found[-1] = None if mends or takes_back["whole"] else last
        lasts = kind is not None and not instructions_in(whole)
        if lasts and words == sentence:
            words = whole  # as it was said, quotations and all
        found.append(
            LastingStatement(str(kind), words, puts_right or rectifies or taken_back) if lasts else None
        )
        before = sentence if kind == FACT else ""
        rectifies = kind is None and (puts_right or taken_back)
    return found


def _is_fragment(said: str, takes_back: str) -> bool:
    """Whether what follows a taking back is a word to put in the place of one said before: "No wait, spaces."."""
    words = len(said.split())
    return takes_back.rstrip().endswith(_PAUSES) and 0 < words <= _FRAGMENT_WORDS and not said.endswith("?")


def _kind_of_request(sentence: str) -> str | None:
    """Return the kind of what a sentence asks to keep in mind, or to do from then on; None for neither."""
    asked = requested(sentence)
    if asked is None:
        return None
    request, what = asked
    if request is SpeechAct.STANDING:
        return Commitment.CONVENTION
    if request is SpeechAct.REMIND:
        return Commitment.TODO
    return commitment_of(what) or FACT


def kind_of(text: str, *, trust: Trust) -> str:
    """Return the kind of a text that nobody named one for: a note, where it is nothing else.

    A short text is what it decides, agrees on, leaves to do or prefers; a longer one what its first sentence says.

    >>> [kind_of(text, trust=Trust.USER) for text in ("We chose Postgres.", "TODO: add retries", "The sky is blue.")]
    ['decision', 'todo', 'note']
    """
    if is_program_output(text):
        return "log"
    if text.count("\n") >= _CODE_LINES - 1 and outline(text) is not None:
        return "code"
    if trust not in _BINDING or len(text) > CHARACTERS_LIMIT:
        return DEFAULT_KIND
    parts = list(_sentences(text))
    if len(parts) > _SENTENCES_OF_A_NOTE:
        parts = parts[:1]
    kind = next(filter(None, map(commitment_of, parts)), None)
    return DEFAULT_KIND if kind is None or instructions_in(text) else kind.value


def _said(text: str) -> Iterator[tuple[str, str]]:
    """Give the sentences of a text, each as it stands and without what it quotes of somebody's sentences."""
    unquoted = _QUOTED_LINE.sub(lambda line: " " * len(line[0]), text)
    unquoted = _QUOTED.sub(_without_sentence, unquoted)
    shown = _shown(text)
    for start, end in sentences(text):
        if shown.start < start < shown.stop:
            continue
        sentence = " ".join(_LIST_MARK.sub("", unquoted[start:end]).split())
        if (
            sentence
            and end - start <= SENTENCE_CHARS_LIMIT
            and not text[start:end].lstrip().startswith(("```", "~~~"))
        ):
            yield " ".join(_LIST_MARK.sub("", text[start:end]).split()), sentence


def _shown(text: str) -> range:
    """Return where a long turn shows a text and does not say it: between its first paragraph and its last one."""
    breaks = (
        [found.span() for found in _BLANK_LINE.finditer(text.strip())] if len(text) > CHARACTERS_LIMIT else []
    )
    return range(breaks[0][0], breaks[-1][1]) if len(breaks) > 1 else range(0)


def _without_sentence(quotation: re.Match[str]) -> str:
    """Return blanks as long as a quoted sentence; a quoted name, or the title of a book, as it is."""
    inner = (quotation[str(quotation.lastgroup)]).strip()
    is_sentence = len(inner.split()) >= _WORDS_OF_A_SENTENCE and (
        inner.endswith((".", "!", "?", "…", ",")) or _IN_PERSON.match(inner.replace("’", "'")) is not None
    )
    return " " * len(quotation[0]) if is_sentence else quotation[0]


def _sentences(text: str) -> Iterator[str]:
    """Give the sentences of a text in one line each, but for blocks of code and what is longer than anybody speaks."""
    for start, end in sentences(text):
        sentence = text[start:end]
        if end - start <= SENTENCE_CHARS_LIMIT and not sentence.lstrip().startswith(("```", "~~~")):
            yield " ".join(_LIST_MARK.sub("", sentence).split())
