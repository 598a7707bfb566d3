"""What was decided, agreed on, left to do or is preferred, by the words in which somebody says so: rules, no model.

The rules know English. A question, a doubt, a condition and what somebody else is said to have said decide nothing.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from enum import StrEnum
from typing import Final, NamedTuple

from hexad.core.lazy import lazy_pattern
from hexad.text.summary.sentences import sentences

SENTENCE_CHARS_LIMIT: Final = 400
_WORDS_LEAST: Final = 4


class Commitment(StrEnum):
    """What a sentence says."""

    DECISION = "decision"
    CONVENTION = "convention"
    TODO = "todo"
    PREFERENCE = "preference"


class Statement(NamedTuple):
    """A sentence, and what it says."""

    what: Commitment
    text: str


_DOUBT = lazy_pattern(
    r"(?i)\b(?:maybe|perhaps|might|could we|should we|shall we|what if|whether|not sure|i think"
    r"|i guess|wonder"
    r"|imagine|suppose|let's say"
    r"|(?:have|has|had|did)(?: not|n't) (?:yet )?(?:decide|decided|agree|agreed)|nothing (?:is"
    r"|was) decided|undecided"
    r"|before we decide|once we|until we (?:decide|agree)|if we (?:decide|decided|agree|agreed))\b"
)
_CHOOSE: Final = (
    r"(?:be )?(?:go(?:ing)? (?:with|for)|stick(?:ing)? (?:with|to)|stay(?:ing)? with|settl(?:e|ing) on"
    r"|switch(?:ing)? (?:over )?(?:to|from)|mov(?:e|ing) (?:over )?to|migrat(?:e|ing) (?:to|from|away)"
    r"|adopt(?:ing)?"
    r"|standardi[sz](?:e|ing) on|build(?:ing)? on|drop(?:ping)?|default(?:ing)? to)"
)
_DECISION = lazy_pattern(
    r"(?i)^\W*(?:decision\s*:|decided\s*:)|\b(?:we|i|the team|everybody)(?:'ve)? (?:have |has |had )?"
    r"(?:now |finally |all |basically |just )?(?:(?:decided|agreed|settled|resolved) (?:to|on|that|for"
    r"|against"
    r"|not|with|upon)"
    r"|chose|(?:opted|went) (?:for|with)|standardi[sz]ed on|ruled out)\b"
    r"|\b(?:we|i)(?:'ve| have) (?:now |finally |just )?(?:elected|selected|chosen|picked|adopted|(?:switched"
    r"|moved|migrated) to)\b"
    rf"|\b(?:we|i)(?:'ll| will| are going to|'re going to|'m going to| am going to| shall) (?:just |all "
    rf"|now )?{_CHOOSE}\b"
    r"(?! (?:it|this|that|these|those|them)\b)"
    rf"|\b(?:we|i)(?:'ll| will| are going to|'re going to|'m going to| am going to| shall) (?:just "
    rf"|all |now )?"
    r"(?:use|be using) (?!(?:it|this|that|these|those|them|some|my|your|her|his|our|their|the)\b)\S"
    r"|\bwe(?:'re| are) (?:now )?(?:using|adopting|(?:switching|moving|migrating) (?:over )?(?:to|from)"
    r"|dropping|going with"
    r"|standardi[sz]ing on) (?=[\"'`]?(?-i:[A-Z0-9])|[\w.]+[._/-]\w)"
    r"|\b(?:it (?:is|was) (?:decided|settled|agreed)) (?:to|that|on)\b"
    r"|\bthe (?:\w+ )?decision (?:is|was(?: made)?|has been made)\b.{0,40}\b(?:to|that|for|against)\b"
    r"|\b(?:is|was|are) (?:our|my) (?:\w+ )?choice\b|\b(?:our|my) (?:\w+ )?choice (?:is|was|fell on)\b"
    r"|^\W*(?:ok(?:ay)?,? |so,? |then,? |alright,? )?(?:going|sticking) (?:with|for) (?!(?:the flow|it|this"
    r"|that|you|my|a|an|the)\b)"
    r"|^\W*(?:chose|picked|selected|opted for|settled on|switched to|migrated to"
    r"|went with) .{2,80}\b(?:because"
    r"|since|over|instead of|due to|for)\b"
    r"|^\W*(?:let's|let us) (?:just |all |please )?(?:go (?:with|for)|use|adopt|stick (?:with|to)|stay with"
    r"|switch to|settle on|standardi[sz]e on|move to)\b(?! (?:it|this|that|these|those|them)\b)"
    rf"|\b(?:the|our) plan is (?:now )?to (?:{_CHOOSE}|use) (?!(?:it|this|that|these|those|them)\b)\S"
    r"|^\W*(?:ok(?:ay)?,? |then,? )?(?:please )?make it (?-i:[A-Z])[\w.+#-]*(?:,? please)?\W*$"
    r"|\bwe (?:picked|rejected|dropped) .{2,60} (?:because|in favou?r of|over)\b"
)
_IT_IS = lazy_pattern(
    r"(?i)(?:^|[-–—:,] ?)(?!(?:here|there|so|as|exactly|what|that|this|how|whatever|where|who|and|but|yes|yeah"
    r"|well|oh"
    r"|wow)\b)\w[\w.+#-]*(?: \w[\w.+#-]*)? it is\W*$"
)
_CONVENTION = lazy_pattern(
    r"(?i)^\W*(?:convention|rule)\s*:|\b(?:our|the|by) (?:convention|rule|house style)\b"
    r"|\bwe (?:always|never)\b"
    r"|\b(?:from now on|from here on|going forward|in this (?:project|repo|repository|codebase)),? "
    r"(?:please |we|all|every|always|never|use)\b"
    r"|^\W*(?:and |but |so )?(?:please )?(?:always|never|(?:don't|do not) ever) (?!(?:mind|a|an|the)\b)"
    # "Never been there.", "Always happy to help.": somebody leaves their "I" out.
    r"(?!(?:again|been|had|seen|heard|thought|knew|known|got|gotten|felt|found|went|gone|came|took"
    r"|taken|made|met|said|told|did|done|was"
    r"|were|too|so|as|enough|more|less|happy|glad|good|great|nice|fun|lovely|there|here|up|down|in|on"
    r"|at|with|for|about|one|something"
    r"|someone|(?!need|feed|embed|seed|speed|exceed|proceed|succeed|shed|shred|wed"
    r"|bleed)[a-z]{2,}ed)\b)[a-z]+"
    r"|(?:[,;]|\bbut|\band) (?:always|never) (?:on|in|at|as|by|for|with|before|after|without|to)\b"
    r"|, always\W*$"
    r"|^\W*(?:and |but |so )?(?:please )?(?:don't|do not) use "
    r"(?!(?:it|this|that|these|those|them|the|a|an|any|my|your|our|one|some|to)\b)"
    r"[\w.+#-]+(?: (?:in|for|anywhere|here)\b.*)?\W*$"
    r"|\b(?:all|every|each) (?:\w+ ){1,5}(?:must|shall|has to|have to)\b"
    # An order what to work with, and no tool for one errand: "use Stripe for payments", not "use the tool to search".
    r"|^\W*(?:and |but |so |also,? )?(?:please )?(?:use|prefer|avoid|stick to|keep to)"
    r"(?! (?:it|this|that|these|those|them|the|a|an|my|your|our|one|some)\b)"
    r"(?= (?-i:[A-Z])[\w.+#-]*\W*$| [^.;]*?\b(?:for|instead of|rather than|over|in|everywhere|throughout"
    r"|only)\b)(?![^.;]*\bto [a-z]{3,}\b)"
)
_TODO = lazy_pattern(
    r"(?i)^\W*(?:todo|fixme|follow-?up|next step|action item|reminder|open point|left to do|still open"
    r"|still missing)"
    r"\b\s*[:\-–—(]"
    r"|\b(?:we|i|you|somebody|someone) (?:still )?(?:need|needs|have|has) to\b.*"
    r"\b(?:later|tomorrow|next|afterwards|another time)\b"
    r"|\b(?:we|i) still (?:need|have) to\b|\bremains to be done\b|\b(?:don't|do not) forget to\b"
    r"|\bremind me to\b"
    r"|\b(?:still|yet) (?:has|have|needs?) to be [a-z]+\b"
)
_OFTEN: Final = r"(?:(?:[a-z]+ly|always|still|do|just|much|also|now|often|happen to|tend to) )*"
_AVERSION: Final = (
    r"hate|dislike|(?:don't|do not|can't|cannot) (?:really )?(?:like|stand|bear|enjoy|care for|want(?! to\b))"
)
_NOT_THAT: Final = (
    r"(?! (?:it|this|that|these|those|you|your|how|what|them|him|her|the (?:[a-z]+ ){0,2}(?:idea|look|sound)"
    r"|to (?:know|see|ask|hear|get))\b)"
)
_CHOICE = lazy_pattern(
    r"(?i)^\W*preference\s*:|\bmy (?:\w+ )?preference (?:is|would be)\b"
    r"|\bi (?:always|generally|usually|never) want (?!to\b)"
    r"|\b(?:i'd|i would) like to (?:stick (?:with|to)|stay with|keep using)\b|\bworks? (?:best"
    r"|better) for me\b"
    r"|\b(?:i|we)(?:'d| would) (?:much )?(?:rather|prefer) (?!not to say)"
    rf"|\b(?:i|we) {_OFTEN}(?:prefer|favou?r){_NOT_THAT}(?= [\"'`“‘*_]*\w)"
    rf"|\b(?:i|we) {_OFTEN}(?:{_AVERSION}){_NOT_THAT}(?= \w|\W*$)"
    r"|\b(?:i|we) (?:\w+ )?(?:always|usually|generally|normally|typically|mostly|only) "
    r"(?:use|set|indent|format|name|code|develop|deploy|test|commit|write (?:my|code|tests|in))\b"
)
"""What somebody wants to be done so, or not so."""
_LIKING = lazy_pattern(
    r"(?i)\bmy (?:\w+ )?favou?rite\b"
    rf"|\b(?:i|we) {_OFTEN}(?:like|love|enjoy|adore){_NOT_THAT}(?= \w)"
    r"|\b(?:i'm|i am|we're|we are) (?:not )?(?:really )?(?:(?:a )?(?:big |huge )?fan of|fond of"
    r"|keen on|partial to)\b"
)
# How a project is built, not what its people do this evening: a sentence with one of these may decide by more verbs.
_PROJECT_WORDS: Final = """
apis? auth authentication authorization back-?end branch branches builds? bundler cache caching ci class(?:es)?
code codebase comments? commits? committing components? config configuration containers? coverage css database
databases dates? db dependency dependencies deploy deploys deployed deploying deployments? docs docstrings?
documentation emails? endpoints? errors? exceptions? fields? format formatter formatting framework front-?end
functions? git hosting imports? indent indentation infra infrastructure json keys lint linter linting logging logs
main markdown merges? messages? methods? migrations? mode modules? names? naming no-?sql orm packages? packaging
plugins? ports? prod production prompts? pull prs? push queries query queues? quotes? releases? repos? repository
repositories requests? responses? reviews? rows? runtime schemas? scripts? secrets? semicolons? servers? services?
shell spaces sql staging storage strings? stylesheets? syntax tables? tabs test tests testing timestamps? tokens?
types? typing ui unit urls? validation variables? versions? web workflows?
"""
_PROJECT = lazy_pattern(r"(?i)\b(?:" + "|".join(_PROJECT_WORDS.split()) + r")\b")
_WORD = re.compile(r"\w+")


def _beginnings(form: str) -> set[str]:
    """Return the first words of what a form stands for: of `back-?end`, "back" and "backend"."""
    longest, shortest = form.replace("(?:es)?", "es").replace("?", ""), re.sub(r"\(\?:es\)\?|.\?", "", form)
    return {longest.partition("-")[0], shortest.partition("-")[0]}


_PROJECT_BEGINNINGS: Final = frozenset().union(*map(_beginnings, _PROJECT_WORDS.split()))
"""A text in ASCII without one of these words has none of a project: looking for the pattern takes six times as long."""
_NAME: Final = r"[\"'`]?(?-i:[A-Z][\w.+#-]*|[a-z][\w+#-]*\.(?:js|py|io|net|ts)\b|[a-z]+\d[\w.]*)"
_POINTED: Final = (
    r"(?:it|this|that|these|those|them|him|her|you|me|us|one|some|any|a|an|the|my|your|his|their)\b"
)
_SOON: Final = lazy_pattern(
    r"(?i)\b(?:today|tonight|tomorrow|yesterday|later|soon|now|yet|first|next (?:week|month|time|file|step)"
    r"|this (?:week|evening|time)"
    r"|for now|right away|asap|at (?:noon|night|\d)|together|for lunch|for dinner|when (?:i|you|we)"
    r"|anymore)\b|\bto (?:find|see|check|look|fix)\b"
)
_WE_CHOOSE = lazy_pattern(
    r"(?i)\b(?:we|i|our team|the team)(?: (?:all|just|now|finally|both))*(?:'ll| will| shall|'re| are|'m| am"
    r"| is| won't)"
    r"(?: (?:not|all|just|now|finally|definitely|then|always|never|only))*(?: gonna"
    r"| going to)?(?: not)?(?: be)? "
    rf"(?:us(?:e|ing)|rely(?:ing)? on|go(?:ing)? with|stick(?:ing)? (?:with|to)|adopt(?:ing)?"
    rf"|switch(?:ing)? to|mov(?:e|ing) (?:over )?to|tak(?:e|ing)"
    rf"|host(?:ing)?(?: \w+)? (?:on|at|with)|deploy(?:ing)? (?:on|to|with)|stor(?:e|ing)\b.{{0,24}} in"
    rf"|writ(?:e|ing)\b.{{0,24}} (?:in|with)"
    rf"|build(?:ing)? (?:on|with|in)|run(?:ning)? (?:on|with)|drop(?:ping)?|support(?:ing)?|target(?:ing)?"
    rf"|nam(?:e|ing)|keep(?:ing)?|pin(?:ning)?)"
    rf" (?!{_POINTED})(?P<named>{_NAME})?"
    rf"|\b(?P<what>is|are|was) what we(?:'ll| will| are going to|'re going to)? (?:use|go with|take|chose"
    rf"|picked|decided on)\b"
)
_SETTLED = lazy_pattern(
    r"(?i)^\W*(?:agreed|settled|it's (?:settled|decided|agreed)|final (?:call|decision|answer)|verdict"
    r"|conclusion|resolved|done deal)\s*[:,–—-]\s*\S"
)
_IT_WILL_BE = lazy_pattern(
    r"(?i)^\W*(?:so,? |ok(?:ay)?,? )?(?P<who>(?:the |our |all )?[\w.+#/-]+(?: [\w.+#/-]+){0,3}) (?:will"
    r"|is going to|are going to|is gonna|shall|must|should)"
    r" (?:always |never |only )?(?:be (?:our|written|hosted|stored|built|named|called|kept|served|deployed|in"
    r"|on)|return|use|live|go|stay|run on|follow) "
)
_ORDER = lazy_pattern(
    rf"(?i)^\W*(?:ok(?:ay)?,? |and |but |so |also,? )?(?:please,? )?(?:can you (?:please )?)?"
    rf"(?:(?:use|prefer|avoid|keep|stop (?:using|suggesting|adding|writing)|stick (?:to|with)|switch to"
    rf"|move to|put|name|no more|no(?! (?:man|way|problem|idea|need|doubt)\b))|(?:don't|do not|never) (?:ever )?[a-z]+|"
    rf"(?:make sure|be sure|remember) to (?:always |never )?[a-z]+|(?:you|everybody|everyone|we) (?:should"
    rf"|must|need to|have to) (?:always|never) [a-z]+|always [a-z]+"
    rf"|(?:i'd like|i would like|i want|give me)(?: all| my| your| every| each)?(?=.* (?:in|as|with"
    rf"|without)\b))"
    rf" (?!{_POINTED}|to\b)\S"
)
_LIVES = lazy_pattern(
    r"(?i)^\W*(?!(?:the|this|that|it|he|she|they|there|what|who|how|i|we|you)\b)[\w.+#-]+(?: [\w.+#-]+){0,3} "
    r"(?:(?:go|goes|live|lives|belong|belongs) (?:in|into|next to|under|beside|on|at)|stays? (?:on|off|in|at)"
    r"|(?:is|are) (?:always|never|only) )"
)
_GENERAL = lazy_pattern(r"(?i)\b(?:always|never|every|each|all|any|before|only|everywhere|instead|not)\b")
_OWN_WAY = lazy_pattern(
    rf"(?i)\bmy (?:go-to|default|usual|standard|preferred) (?:\w+ ){{0,3}}(?:is|are)\b(?!.*\b(?:excuse"
    rf"|answer|joke)\b)"
    rf"|(?P<sure>\bremember (?:that )?i (?:always |never |usually )?(?:use|prefer|like|want|work with|write"
    rf"|need|run|code in)\b"
    rf"|^\W*(?:please )?call me {_NAME}\W*$|^\W*(?:please )?stop (?:suggesting|recommending|mentioning|adding"
    rf"|using) \S|\bi(?:'d| would) like (?:all |my |your )?(?:answers|replies|responses|explanations|code)\b)"
    rf"|\bi (?:always|usually|generally|normally|mostly|only) (?:work|run|write|test|deploy|commit"
    rf"|review|name"
    rf"|start) (?:with|my|all|tests|code|in|on|every)\b"
)
_QUOTED = lazy_pattern(r"^\s*(?:>|```|~~~|\||[$%#] |[\"“«])")
_QUOTATION = lazy_pattern(
    r"[\"“«][^\"”»\n]{12,}[\"”»]|„[^“”\n]{12,}[“”]|(?<!\w)['‘](?=\w)(?:[^'\n]|(?<=\w)'(?=\w)){12,}'(?!\w)"
)
_OWN_AFTER_ALL: Final = r"(?!.*[,;:–—-] ?(?:but|so|yet|still|nevertheless|therefore)\b)"
"""What follows these words is the speaker's own again: "Kim says it is slow, but we chose it"."""
_TOLD: Final = (
    r"(?:(?:says|said|claims|claimed|thinks|thought|believes|believed|insists|insisted|writes|wrote"
    r"|mentions|mentioned"
    r"|announces|announced|argues|argued|swears|swore|assumes|assumed|suggests|suggested|reckons"
    r"|reckoned|heard|hopes"
    r"|(?:tells|told) (?:me|us|him|her|them|everybody|everyone|people|(?-i:[A-Z])[a-z]+)|(?:keeps"
    r"|kept) (?:saying|telling me))\b)"
)
_TELL: Final = (
    r"(?:(?:say|claim|think|believe|insist|write|mention|argue|assume|suggest|tell (?:me|us)"
    r"|keep (?:saying|telling me))\b)"
)
_HEARSAY = lazy_pattern(
    r"(?i)\b(?:they|he|she|the (?:docs?|page|article|readme|log|issue|blog|book)) (?:says?|said|claims?)\b"
    r"|^\W*(?:(?:and|but|so|well|also|ok(?:ay)?|yes|yeah|no|oh|hey|now)\b,? )*"
    r"(?:(?:(?:my|our|his|her|their|your|the|an?|some|one of (?:my|our|the)) (?:[\w'’-]+ ){1,3}?"
    r"|(?:you|he|she|they|someone|somebody|everyone|everybody|people|nobody) )"
    rf"(?:(?:just|still|also|always|once|often|[a-z]+ly) )*(?:{_TOLD}|{_TELL})"
    r"|(?!(?:I|We|Never|Always|Please|Just|Also|If|When|What|As|That|This|It|Once|Not)\b)"
    r"(?-i:[A-Z])[\w'’-]+ (?:(?-i:[A-Z])[\w'’-]+ )?"
    rf"(?:(?:just|still|also|always|once|often|[a-z]+ly) )*{_TOLD}){_OWN_AFTER_ALL}"
    r"|\baccording to (?!(?:the |our |my )?(?:plan|schedule)\b)|, (?:says?|said|claims?|claimed) (?:my"
    r"|our|the|he|she|they|(?-i:[A-Z]))"
    rf"|\bi(?:'m| was| am|'ve been| have been) told\b{_OWN_AFTER_ALL}|\bi (?:just )?(?:heard"
    rf"|read somewhere)\b{_OWN_AFTER_ALL}"
    r"|\b(?:apparently|supposedly|allegedly|reportedly|rumou?r has it)\b"
)
_DENIAL = lazy_pattern(
    r"(?i)\b(?:i|we|nobody|no one|none of us)(?:(?: have|'ve|'d)? never(?: ever| once)?| (?:didn't"
    r"|did not|don't|do not|haven't|have not|hadn't"
    r"|can't|cannot|won't|wouldn't|would not)(?: ever| actually| really| even)?)? (?:say|said|saying"
    r"|claim|claimed|tell|told|mention|mentioned|wrote"
    r"|write|meant?|think|thought|believe|believed|remember|recall|recalled|suggest|suggested|impl(?:y"
    r"|ied)|stated?)"
    r"(?: (?:to )?(?:you|anyone|anybody|him|her|them))?(?: that)? (?:i|i'm|i've|i'd|we|we're|we've|my"
    r"|our|it's|it is)\b"
    r"|\b(?:it|that)(?:'s| is| was)? ?(?:not|n't) (?:true|right|correct|the case|as if"
    r"|like) (?:that )?(?:i|we|my|our|i'm|we're)\b"
    r"|\b(?:it|that)(?:'s| is| was)? (?:false|wrong|untrue|a lie|a myth|a rumou?r"
    r"|nonsense) (?:that )?(?:i|we|my|our|i'm|we're)\b"
    r"|^\W*not that (?:i|we)\b"
)
_NEGATES: Final = lazy_pattern(
    r"(?i)\b(?:never|nobody|no one|none|not|false|wrong|untrue|lie|myth|rumou?r|nonsense|\w+n't|cannot)\b"
)


def statements(text: str) -> Iterator[Statement]:
    """Yield what a text decides, agrees on or leaves to do, sentence by sentence.

    >>> [(one.what.value, one.text) for one in statements("Looks fine. We decided to keep SQLite. TODO: add retries.")]
    [('decision', 'We decided to keep SQLite.'), ('todo', 'TODO: add retries.')]
    >>> list(statements("Should we go with Redis? We have not decided on it."))
    []
    """
    for start, end in sentences(text):
        sentence = " ".join(text[start:end].split())
        if len(sentence) > SENTENCE_CHARS_LIMIT or len(sentence.split()) < _WORDS_LEAST - 1:
            continue
        what = commitment_of(sentence)
        if what is not None:
            yield Statement(what, sentence)


class WordedPattern(NamedTuple):
    """A pattern, and words of which one stands in every text in which it finds something.

    To look for a word first takes a tenth of the time of a pattern that has many forms.
    """

    pattern: re.Pattern[str]
    words: frozenset[str]

    def search(self, plain: str, words: Collection[str] | None) -> re.Match[str] | None:
        """Return what the pattern finds first in a text of these words; None for words that are not known."""
        if words is not None and self.words.isdisjoint(words):
            return None
        return self.pattern.search(plain)


def is_doubtful(sentence: str) -> bool:
    """Whether a sentence asks, doubts, supposes, quotes, or tells what somebody else said: it binds nobody."""
    plain = sentence.replace("’", "'")
    return _binds_nobody(plain.rstrip(), words_in(plain))


def _binds_nobody(plain: str, words: Collection[str] | None) -> bool:
    if plain.endswith(("?", "？")) or _QUOTED.match(plain) is not None:
        return True
    if any(rule.search(plain, words) is not None for rule in (_DOUBTS, _SAID_BY_OTHERS)):
        return True
    denied = _DENIED.search(plain, words)
    return denied is not None and _NEGATES.search(denied[0]) is not None


def commitment_of(sentence: str) -> Commitment | None:
    """Return what one sentence commits to; None where it binds nobody."""
    plain = sentence.replace("’", "'")
    words = words_in(plain)
    if _binds_nobody(plain.rstrip(), words):
        return None
    whole, plain = plain, _QUOTATION.sub(" ", plain)
    if plain != whole:
        words = words_in(plain)
    if _PASSES.search(plain, words) is not None:
        return None
    what = next((what for what, rule in _RULES if rule.search(plain, words)), None)
    return _about_a_project(plain, words) if what is None else what


def words_in(plain: str) -> set[str] | None:
    """Return the words of a text in lower case; None where a letter may be another one's other case."""
    return set(_WORD.findall(plain.lower())) if plain.isascii() else None


def _about_a_project(plain: str, words: Collection[str] | None) -> Commitment | None:
    """Return what a sentence commits to that would say nothing outside of a project: "Tests go next to the code"."""
    about = (words is None or not _PROJECT_BEGINNINGS.isdisjoint(words)) and _PROJECT.search(
        plain
    ) is not None
    if (own := _OWN.search(plain, words)) is not None and (about or own["sure"] is not None):
        return Commitment.PREFERENCE
    chosen = _CHOOSES.search(plain, words)
    chooses = chosen is not None and bool(about or chosen["named"] or chosen["what"])
    settles = chooses or _SETTLED.match(plain) is not None
    if not (about or settles) or _SOON.search(plain):
        return None
    if settles:
        return Commitment.DECISION
    if (subject := _IT_WILL_BE.search(plain)) is not None:
        return (
            Commitment.DECISION if _PROJECT.search(plain, *subject.span("who")) or " our " in plain else None
        )
    if _ORDER.search(plain) and len(plain.split()) >= 3:
        return Commitment.CONVENTION
    return Commitment.CONVENTION if _LIVES.search(plain) else None


def is_choice(sentence: str) -> bool:
    """Whether a preference says what to do or to leave ("I prefer tabs"), and not only what somebody enjoys.

    >>> is_choice("I prefer tabs."), is_choice("I love hiking.")
    (True, False)
    """
    return _CHOICE.search(_plain(sentence)) is not None


def _plain(sentence: str) -> str:
    return _QUOTATION.sub(" ", sentence.replace("’", "'"))


# Said of the next step of a talk, or to say nothing.
_PASSING: Final = lazy_pattern(
    r"(?i)^\W*(?:ok(?:ay)?,? |so,? )?(?:let's|let us) (?:go (?:with|to|on)|use|do|move to|switch to"
    r"|look) (?:the )?(?:next|other|following|first|second|last)\b"
    r"|\bprefer not to (?:say|answer|talk|discuss|go)\b"
)


def _rule(pattern: re.Pattern[str], words: str) -> WordedPattern:
    return WordedPattern(pattern, frozenset(words.split()))


_DOUBTS: Final = _rule(
    _DOUBT,
    "maybe perhaps might could should shall if whether sure think guess wonder imagine suppose say decide decided"
    " agree agreed undecided once",
)
_SAID_BY_OTHERS: Final = _rule(
    _HEARSAY,
    "say says said claim claims claimed think thinks thought believe believes believed insist insists insisted"
    " write writes wrote mention mentions mentioned announce announces announced argue argues argued swear swears swore"
    " assume assumes assumed suggest suggests suggested reckon reckons reckoned heard hope hopes tell tells told"
    " keep keeps according kept read apparently supposedly allegedly reportedly rumor rumour",
)
_DENIED: Final = _rule(
    _DENIAL,
    "say said saying claim claimed tell told mention mentioned wrote write mean meant think thought believe believed"
    " remember recall recalled suggest suggested imply implied state stated true right correct case as like false wrong"
    " untrue lie myth rumor rumour nonsense not",
)
_PASSES: Final = _rule(_PASSING, "let prefer")
_CHOOSES: Final = _rule(_WE_CHOOSE, "we i team")
_OWN: Final = _rule(
    _OWN_WAY,
    "go default usual standard preferred remember call stop like always usually generally normally mostly only",
)
_RULES: Final = (
    (
        Commitment.DECISION,
        _rule(
            _DECISION,
            "decision decided agreed settled resolved chose opted went standardised standardized ruled elected"
            " selected chosen picked adopted switched moved migrated rejected dropped choice let plan make"
            " go going stick sticking stay staying settle settling switch switching move moving migrate migrating"
            " adopt adopting standardise standardize standardising standardizing build building drop dropping"
            " default defaulting use using",
        ),
    ),
    (Commitment.DECISION, _rule(_IT_IS, "it")),
    (
        Commitment.CONVENTION,
        _rule(
            _CONVENTION,
            "convention rule house always never ever from forward project repo repository codebase use prefer avoid"
            " stick keep all every each",
        ),
    ),
    (
        Commitment.TODO,
        _rule(
            _TODO,
            "todo fixme follow followup next action reminder open left still later tomorrow afterwards another"
            " remains forget remind yet",
        ),
    ),
    (
        Commitment.PREFERENCE,
        _rule(
            _CHOICE,
            "preference want like works work rather prefer favor favour hate dislike stand bear enjoy care always"
            " usually generally normally typically mostly only",
        ),
    ),
    (
        Commitment.PREFERENCE,
        _rule(_LIKING, "favorite favourite like love enjoy adore fan fond keen partial"),
    ),
)
RULES: Final = (_DOUBTS, _SAID_BY_OTHERS, _DENIED, _PASSES, _OWN, _CHOOSES, *(rule for _, rule in _RULES))
"""All rules that look for words first."""
