"""What the title of a decision chooses and what it turns down: `Kafka replaces RabbitMQ`, `Do not use Prisma`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from hexad.core.lazy import lazy_pattern
from hexad.text.normalize import fold
from hexad.text.same_values import VERSION, same_version, without_version, words_of

Words = tuple[str, ...]

_CHARS_READ: Final = 200
"""What is longer than a line is told, not named."""
_ASIDE: Final = lazy_pattern(r"\([^()]*\)|\s[-–—]\s.*|(?<=\w)[.!?]\s.*")
"""What says more of a decision and is none: brackets, and all behind a dash or the first sentence."""
_REASON: Final = lazy_pattern(
    r"[, ]+(?:because|since|so that|as (?:it|they|we|its|their)\b|due to|given|which|who|where|when"
    r"|while|if|unless|until).*"
)
_FULL_FORMS: Final = (("can't", "can not"), ("cannot", "can not"), ("won't", "will not"), ("n't", " not"),
                      ("let's", "let us"), ("'ll", " will"), ("'re", " are"),
                      ("'ve", " have"), ("'d", " would"))  # fmt: skip
_BEFORE: Final = lazy_pattern(
    r"(?:(?:we|us|i|let|they|the team|will|shall|should|must|may|can|would|do|does|did|please|have|has|had|are|were"
    r"|is|was|am|going|plan|planned|want|need|decided|agreed|decision|now|also|just|simply|completely|finally"
    r"|from now on|to|on|it|that|at last)[, ]+)+"
)
"""Who decides, and that it is decided."""
_END: Final = lazy_pattern(
    r"\s(?:any ?more|any longer|from now on|after all|everywhere|completely|entirely|altogether)$"
)
_ARTICLE: Final = frozenset("a an the any our all its only just using use of more instead now".split())
_SCOPE: Final = frozenset(
    "for in on at within inside per during with via behind under as to into by about of through across among".split()
)


def _inflected(verbs: str) -> set[str]:
    """Return verbs in the forms that titles have: `use`, `uses`, `used`, `using`, `drop`, `dropping`."""
    forms = set()
    for verb in verbs.split():
        stem = verb.removesuffix("e")
        forms |= {
            verb,
            f"{verb}s",
            f"{verb}es",
            f"{stem}ed",
            f"{stem}ing",
            f"{verb}{verb[-1]}ed",
            f"{verb}{verb[-1]}ing",
        }
    return forms


def _forms(verbs: str) -> str:
    """Return a pattern of verbs in their forms."""
    return "|".join(sorted(_inflected(verbs), key=lambda form: (-len(form), form)))


_MOVE_VERBS: Final = "switch move migrate upgrade downgrade change convert go port transition"
_TAKE_VERBS: Final = "use choose adopt pick take keep introduce add prefer select retain require try"
_STAY_VERBS: Final = "stay stick settle standardise standardize build rely bet"
_LEAVE_VERBS: Final = (
    "drop remove retire abandon ditch deprecate avoid stop discontinue eliminate reject forbid ban"
)
_END_VERBS: Final = "disallow sunset uninstall scrap exclude quit cease kill leave"
_AWAY_VERBS: Final = "get phase throw turn take move rule"
_REPLACE_VERBS: Final = "replace supersede supplant substitute swap"
_MOVE: Final = f"(?:{_forms(_MOVE_VERBS)}|went|gone)"
_TAKE: Final = (
    f"(?:{_forms(_TAKE_VERBS)}"
    f"|chose|chosen|kept|took|taken|{_MOVE}(?: back| over)? (?:to|with|for)"
    f"|(?:{_forms(_STAY_VERBS)}|stuck|built) (?:on|with|for))"
)
_LEAVE: Final = (
    f"(?:{_forms(_LEAVE_VERBS)}"
    f"|{_forms(_END_VERBS)}|left|without|{_MOVE} away from"
    f"|(?:{_forms(_AWAY_VERBS)}|got)(?: rid of| out| away from| away| down| off)|against)"
)
_REPLACE: Final = f"(?:{_forms(_REPLACE_VERBS)}|swap out|(?:take|takes|took) the place of)"
_NOT: Final = r"(?:not(?: to)?|never|no longer|neither)"
_BE: Final = r"(?:(?:is|are|was|were|be|been|being|gets?|got|will|shall|should|must|has|have|to|now)\s)+"
_OVER: Final = (
    r",?\s(?:instead of|in place of|rather than|in preference to|over|and not|but not|not|from|vs\.?)\s"
)
_FOR: Final = rf"(?:[,;]? (?:in favou?r of|and {_TAKE})|[,;] {_TAKE}) "

# Of each form the words of which one must stand in a title, None for any: most forms are never tried, and not compiled.
_MOVING: Final = frozenset({*_inflected(_MOVE_VERBS), "went", "gone"})
_TAKING: Final = frozenset(
    {
        *_inflected(f"{_TAKE_VERBS} {_STAY_VERBS}"),
        "chose",
        "chosen",
        "kept",
        "took",
        "taken",
        "stuck",
        "built",
        *_MOVING,
    }
)
_LEAVING: Final = frozenset(
    {*_inflected(f"{_LEAVE_VERBS} {_END_VERBS} {_AWAY_VERBS}"), "left", "without", "got", "against", *_MOVING}
)
_REPLACING: Final = frozenset({*_inflected(_REPLACE_VERBS), "place"})
_DENYING: Final = frozenset({"not", "never", "no", "neither"})
_NOTHING: Final = frozenset({"no", "not", "never", "nothing"})
_BEFORE_ANOTHER: Final = frozenset({"instead", "rather"})
_FROM: Final = frozenset({"from"})
_BEING: Final = frozenset(
    "is are was were be been being get gets got will shall should must has have to now".split()
)

_FORMS: Final[tuple[tuple[frozenset[str] | None, re.Pattern[str]], ...]] = tuple(
    (words, lazy_pattern(pattern))
    for words, pattern in (
        (_REPLACING, rf"{_REPLACE} (?P<no>.+?) (?:with|by|for|through) (?P<yes>.+)"),
        (_REPLACING, rf"{_REPLACE} (?P<no>.+)"),
        (_REPLACING, rf"(?P<no>.+?) {_BE}{_REPLACE} (?:with|by) (?P<yes>.+)"),
        (None, r"(?P<no>.+?) (?:gives way to|makes? way for|gave way to) (?P<yes>.+)"),
        (_REPLACING, rf"(?P<yes>.+?) (?:{_BE})?{_REPLACE} (?P<no>.+)"),
        (_FROM, rf"(?:{_MOVE} (?:[^ ]+ )*?)?from (?P<no>.+?)(?:,| over)? to (?P<yes>.+)"),
        (None, r"(?P<no>.+?) (?:->|→|=>) (?P<yes>.+)"),
        (_MOVING, rf"{_MOVE} (?P<no>(?:(?!(?:to|back|over)\b)\S+ )+?)(?:over )?to (?P<yes>.+)"),
        (_DENYING, rf"{_NOT} {_LEAVE} (?P<yes>.+)"),
        (_BEFORE_ANOTHER, rf"(?:{_NOT} )?(?:instead of|rather than) (?P<no>.+?),? {_TAKE} (?P<yes>.+)"),
        (_DENYING, rf"{_NOT} {_TAKE} (?P<no>.+?){_FOR}(?P<yes>.+)"),
        (_DENYING, rf"{_NOT} {_TAKE} (?P<no>.+)"),
        (_LEAVING, rf"{_LEAVE} (?P<no>.+?){_FOR}(?P<yes>.+)"),
        (_LEAVING, rf"{_LEAVE} (?P<no>.+)"),
        (None, r"prefer(?:red|ring|s)? (?P<yes>.+?) to (?P<no>.+)"),
        (_LEAVING, rf"{_TAKE} (?P<yes>.+?)(?:[,;]| and|, and) {_LEAVE} (?P<no>.+)"),
        (_TAKING, rf"{_TAKE} (?P<yes>.+?){_OVER}(?P<no>.+)"),
        (_TAKING, rf"{_TAKE} (?P<yes>.+)"),
        (_NOTHING, rf"(?:no|no more|not|never|nothing of) (?P<no>.+?){_FOR}(?P<yes>.+)"),
        (_NOTHING, r"(?:no|no more|not|never) (?P<no>.+?)"),
        (_LEAVING, rf"(?P<no>.+?) {_BE}{_LEAVE}{_FOR}(?P<yes>.+)"),
        (
            _BEING,
            rf"(?P<no>.+?) {_BE}(?:{_NOT} (?:be )?{_TAKE}|{_LEAVE}|out|gone|over|forbidden|too \w+)(?P<scope> .+)?",
        ),
        (None, r"(?P<no>.+?) (?:goes|no more|no longer)"),
        (_BEING, rf"(?P<yes>.+?) {_BE}{_TAKE}(?P<scope> .+)?"),
        (None, rf"(?P<yes>.+?){_OVER}(?P<no>.+)"),
        (None, r"(?P<yes>.+)"),
    )
)  # fmt: skip

_VERB: Final = lazy_pattern(rf"(?:{_NOT} )?(?:{_TAKE}|{_LEAVE}|{_REPLACE}|{_MOVE}|no|instead)\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class TitleChoice:
    """What a title chooses and turns down, each as its words; `scope` has the words of the part that it speaks of."""

    chosen: tuple[Words, ...] = ()
    rejected: tuple[Words, ...] = ()
    scope: Words = ()

    @property
    def named(self) -> tuple[Words, ...]:
        """All that it names, without versions."""
        return tuple(
            dict.fromkeys(tuple(without_version(list(name))) for name in (*self.chosen, *self.rejected))
        )

    def stance(self, value: str) -> bool | None:
        """Whether it chooses a value (True), turns it down (False), or does not name it (None).

        >>> [choice_in("Use PostgreSQL 16").stance(value) for value in ("Postgres", "PostgreSQL 15", "MySQL")]
        [True, False, None]
        """
        words = words_of(value)
        plain = without_version(words)
        takes = None
        for names, is_chosen in ((self.chosen, True), (self.rejected, False)):
            for name in names:
                if plain and without_version(list(name)) == plain:
                    same = same_version(words[len(plain) :], list(name)[len(plain) :])
                    if same:
                        return is_chosen
                    takes = False if is_chosen else takes  # another version is chosen
        return takes


def choice_in(title: str) -> TitleChoice:
    """Return what the title of a decision chooses and turns down; nothing of a long one.

    A bare name is chosen. What stands behind a preposition is the part that is spoken of, and what gives the reason is
    left out.

    >>> choice_in("Kafka replaces RabbitMQ")
    TitleChoice(chosen=(('kafka',),), rejected=(('rabbitmq',),), scope=())
    >>> choice_in("Do not use Redis for sessions")
    TitleChoice(chosen=(), rejected=(('redis',),), scope=('sessions',))
    """
    if len(title) > _CHARS_READ:
        return TitleChoice()
    text = fold(_ASIDE.sub("", f"{title.strip()} ".replace("’", "'")))
    for short, full in _FULL_FORMS:
        text = text.replace(short, full)
    text = _REASON.sub("", text)
    label, colon, rest = text.partition(": ")
    if colon:
        text = label if _VERB.match(_active(label)) else rest
    text = _active(text)
    match = _form_of(text)
    if match is None:
        return TitleChoice()
    parts = match.groupdict()
    scope: list[str] = []
    chosen = [*_names(parts.get("yes"), scope)]
    rejected = [*_names(parts.get("no"), scope)]
    scope += [word for word in words_of(parts.get("scope") or "") if word not in _ARTICLE | _SCOPE]
    if len(chosen) == 1 and VERSION.fullmatch(" ".join(chosen[0])) and rejected:
        chosen = [(*without_version(list(rejected[0])), *chosen[0])]  # from PostgreSQL 15 to 16
    elif len(rejected) == 1 and VERSION.fullmatch(" ".join(rejected[0])) and chosen:
        rejected = [(*without_version(list(chosen[0])), *rejected[0])]
    return TitleChoice(chosen=tuple(chosen), rejected=tuple(rejected), scope=tuple(scope))


def _form_of(text: str) -> re.Match[str] | None:
    """Return how the first form reads a text that fits to it."""
    there = frozenset(text.replace(",", " ").replace(";", " ").split())
    return next(
        (
            match
            for words, form in _FORMS
            if (words is None or not words.isdisjoint(there)) and (match := form.fullmatch(text))
        ),
        None,
    )


def _active(text: str) -> str:
    """Return a text without who decides."""
    before = _BEFORE.match(text)
    return _END.sub("", text if before is None else text[before.end() :])


def _names(text: str | None, scope: list[str]) -> Iterator[Words]:
    """Give the names of a list of them; what stands behind a preposition goes to `scope`."""
    for part in re.split(r"\s*[,;&]\s*|\s(?:and|or|nor|plus)\s", text or ""):
        name: list[str] = []
        words = words_of(part)
        while words and words[0] in _ARTICLE:
            words.pop(0)
        for at, word in enumerate(words):
            if word in _SCOPE and name:
                scope += [rest for rest in words[at:] if rest not in _ARTICLE | _SCOPE]
                break
            name.append(word)
        while name and name[-1] in _ARTICLE:
            name.pop()
        if name:
            yield tuple(name)
