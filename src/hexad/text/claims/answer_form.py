"""Whether a plain sentence has the form of an answer to a question: a place for "where", a name for "who", its verb.

"The office has forty desks" and "The office is in Bremen" share the same word with "Where is the office?"; how they are
built tells which of them answers. A linear model over a few signs of a clause, read by the closed classes of English;
`python -m benchmarks.answer_forms` fits the weights.
"""

from __future__ import annotations

from collections.abc import Iterable, Set
from typing import Final, NamedTuple

from hexad.text.claims import english
from hexad.text.claims.reader import Claim, Token, claims, is_day, stem, tokens_of

SIGNS: Final = (
    "no clause", "more in the subject", "owned by another", "label with more words", "another person",
    "both say what is", "says what is", "another verb", "verb of change", "label",
    "where: place", "where: no place", "who: name", "who: no name", "who: before the verb", "time", "no time",
    "count", "no count", "which: name", "what: no preposition", "what: preposition", "its preposition",
    "another preposition", "no preposition", "no value",
)  # fmt: skip

_KEY: Final = 5
"""Words are the same that begin so; names and numbers only as a whole."""
_ASKS: Final = {
    "who": "who", "whom": "who", "whose": "who", "where": "where", "when": "when", "which": "which",
    "what": "what", "how": "how",
}  # fmt: skip
_DEGREES: Final = frozenset("many much fast often long old big large far high tall late early soon".split())
_OF_TIME: Final = frozenset("often late early soon".split())
_TIME_NOUNS: Final = frozenset(map(stem, "time day date month year weekday".split()))
_TO_PLACE: Final = frozenset("in on at under behind inside near with into onto to over by".split())
_TO_TIME: Final = frozenset("in on at by from until to every each".split()) | {""}
_ENDS_NOUN: Final = english.AUXILIARIES | english.PRONOUNS | english.PREPOSITIONS


def word_key(token: Token) -> str:
    """Return by what a word of a question is found in a text."""
    return token.stem[:_KEY] if token.stem.isalpha() else token.stem


class QuestionForm:
    """What a question asks for: a person, a place, a time, a number, a thing of a kind; and of what."""

    def __init__(self, question: str) -> None:
        tokens = tokens_of(question)
        lows = [token.low for token in tokens]
        at = next((place for place, low in enumerate(lows) if low in _ASKS), None)
        rest = tokens if at is None else tokens[at + 1 :]
        following = rest[0].low if rest else ""
        self.asks = "" if at is None else _ASKS[lows[at]]
        self.count = self.asks == "how" and following in _DEGREES
        noun = _noun(rest) if self.asks in {"which", "what"} else frozenset()
        self.names_kind = bool(noun)
        of_time = self.asks == "how" and following in _OF_TIME
        self.time = self.asks == "when" or of_time or bool(noun & _TIME_NOUNS)
        self.keys = frozenset(
            word_key(token)
            for token, low in zip(tokens, lows, strict=True)
            if token.content and low not in _ASKS and low not in _DEGREES
        )
        auxiliary = next((token.low for token in rest if token.low in english.AUXILIARIES), "")
        self.asks_what_is = auxiliary in english.BE
        last = next((low for low in reversed(lows) if low[0].isalnum()), "")
        self.preposition = last if last in english.PREPOSITIONS else ""
        self.person = any(low in english.FIRST_PERSON for low in lows)


def _noun(tokens: Iterable[Token]) -> frozenset[str]:
    """Return the words behind "which" or "what" up to the verb: of what kind the answer is."""
    noun: list[str] = []
    for token in tokens:
        if token.low in _ENDS_NOUN:
            break
        if token.content:
            noun.append(token.stem)
    return frozenset(noun)


def form_signs(question: QuestionForm, text: str) -> list[float]:
    """Return the signs of a text, in the order of `SIGNS`: those of the clause that holds most of the question."""
    best = max(claims(text), key=lambda claim: len(question.keys & _keys(claim.tokens)), default=None)
    return [1.0] + [0.0] * (len(SIGNS) - 1) if best is None else _signs(question, best)


def _signs(question: QuestionForm, claim: Claim) -> list[float]:
    said = claim.qualifiers | claim.places | {token.stem for token in claim.value}
    subject = _shortened(claim.subject)
    turned = bool(subject) and not question.keys & subject and bool(question.keys & _shortened(said))
    if turned:  # "Jonas is the team lead": what is asked about stands behind the verb
        topic = _shortened(said - claim.places)
        answer = [token for token in claim.tokens if token.stem in claim.subject]
    else:
        topic, answer = subject, list(claim.value)
    answer = [token for token in answer if word_key(token) not in question.keys]
    preposition = "" if turned else claim.preposition
    if not answer and not turned:  # "we do the opening song at 104 bpm"
        answer, preposition = _rest(claim, said, question.keys)
    verb = stem(claim.verb)[:_KEY]
    more = topic - question.keys - {verb}
    label, change = not claim.verb, claim.verb in english.CHANGE
    same = bool(verb) and verb in question.keys
    copula = label or claim.verb == "be"
    name = any(token.written[0].isupper() and not is_day(token) for token in answer)
    number = any(any(char.isdigit() for char in token.low) or token.number is not None for token in answer)
    day = any(map(is_day, answer))
    place = preposition in _TO_PLACE and bool(answer) and not day
    time = (day or number) and preposition in _TO_TIME
    what_is, asks = question.asks_what_is, question.asks
    signs = (
        False,
        bool(more),
        claim.owners > 0 and bool(more),
        label and bool(more),
        question.person != claim.person,
        what_is and copula,
        not what_is and claim.verb == "be",
        not what_is and not copula and not same and not change,
        change,
        label,
        asks == "where" and place,
        asks == "where" and not place,
        asks == "who" and name,
        asks == "who" and not name,
        asks == "who" and (claim.inverse or turned),
        question.time and time,
        question.time and not time,
        question.count and number,
        question.count and not number,
        question.names_kind and name and not number,
        asks == "what" and bool(answer) and not preposition,
        asks == "what" and bool(preposition) and not question.preposition,
        bool(question.preposition) and preposition == question.preposition,
        bool(question.preposition) and preposition not in {"", question.preposition},
        bool(question.preposition) and not preposition,
        not answer,
    )
    return [float(sign) for sign in signs]


def _rest(claim: Claim, said: Set[str], asked: frozenset[str]) -> tuple[list[Token], str]:
    """Return what a clause says beside the value that the question names, and the preposition that leads to it."""
    rest: list[Token] = []
    leading = ""
    for token in claim.tokens:
        if token.content and token.stem in said and word_key(token) not in asked:
            rest.append(token)
        elif not rest and (token.content or token.low in english.PREPOSITIONS):
            leading = token.low if token.low in english.PREPOSITIONS else ""
    return rest, leading


def _keys(tokens: Iterable[Token]) -> frozenset[str]:
    return frozenset(word_key(token) for token in tokens if token.content)


def _shortened(stems: Iterable[str]) -> frozenset[str]:
    return frozenset(word[:_KEY] if word.isalpha() else word for word in stems)


class FormFit(NamedTuple):
    """How many words of a question a text holds, and what its form is worth as that of an answer."""

    words: int
    worth: float


def form_fits(question: str, texts: Iterable[str]) -> list[FormFit]:
    """Return how each text fits a question; all alike what asks for no value, as "why …" and a few words do not.

    >>> office, desks = form_fits("Where is the office?", ["The office is in Bremen.", "The office has forty desks."])
    >>> (office.words, desks.words, office.worth > desks.worth)
    (1, 1, True)
    """
    form = QuestionForm(question)
    if not form.asks:
        return [FormFit(0, 0.0) for _ in texts]
    return [FormFit(len(form.keys & _keys(tokens_of(text))), form_worth(form, text)) for text in texts]


def form_worth(form: QuestionForm, text: str) -> float:
    """Return what the form of a text is worth as that of an answer."""
    return sum(weight * sign for weight, sign in zip(WEIGHTS, form_signs(form, text), strict=True))


WEIGHTS: Final = (
    0.41, -5.34, -4.17, -3.43, -1.47, 3.42, -1.40, -2.68, 4.23, 1.22, 2.73, -4.01, 1.95, -4.76, 3.32, 2.48,
    -5.64, 2.46, -3.62, 3.26, 0.61, -3.80, 3.82, -4.08, -4.38, 2.17,
)  # fmt: skip
"""What each sign is worth, in shares of a fifth of the best score."""
