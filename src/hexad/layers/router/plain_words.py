"""The words by which a plain sentence says that it asks for records, and which of them: heads, nouns, what follows."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

KIND_OF: Final[Mapping[str, str]] = {
    "decision": "decision",
    "decisions": "decision",
    "todo": "todo",
    "todos": "todo",
    "to-do": "todo",
    "to-dos": "todo",
    "convention": "convention",
    "conventions": "convention",
    "note": "note",
    "notes": "note",
}
"""Nouns that name a kind of memory. Patterns are left out: of most patterns one speaks as of a topic."""
ANY_KIND: Final = frozenset({"memories"})
ALL_OF_THEM: Final = frozenset({"everything", "anything", "all", "things"})
"""Nouns for records of any kind: the second only where what narrows them stands next to them."""
PREFERENCES: Final = frozenset({"preference", "preferences"})
SINGULAR: Final = frozenset({"decision", "todo", "to-do", "convention", "note", "preference"})
NO_TITLES: Final = frozenset({"todo", "to-do", "note", "preference"})
"""In the singular these ask for records only after a head: "the note on the door" is a note on a door."""
DETERMINERS: Final = frozenset("the all of our my your any every some these those a an each".split())
PLAIN_ADJECTIVES: Final = frozenset(
    "recent latest last newest new past previous old older earlier existing current known other stored".split()
)
"""What says nothing of the topic; other words before a noun stay words to be looked for."""
ADJECTIVES: Final = PLAIN_ADJECTIVES | frozenset(
    "open pending unresolved unfinished finished done important critical urgent pinned unpinned personal".split()
)
OTHER_NOTES: Final = frozenset(
    """
    release patch meeting speaker field lecture sticky delivery credit bank upgrade migration promissory side
    technical program liner cliff sample dummy demo example test user users default api
    """.split()
)
"""With one of these before it, a noun names something else: release notes, sample todos, user preferences."""
FUNCTION_WORDS: Final = frozenset(
    """
    a an the this that these those and or but not no nor if then so as at by for from in into of off on onto out over
    per since than through to under until up via with within without about above after against along among around
    before behind below between during regarding concerning is are am was were be been being do does did has have had
    can could shall should will would may might must i we you he she it they me us him her them my our your his its
    their what which who whom whose when where why how there here just only also
    """.split()
)
TOPICAL: Final = frozenset("about on for regarding concerning around of".split())
FOLLOWS: Final = TOPICAL | frozenset(
    """
    in from since before after until till between during within over under below with tagged labelled labeled pinned
    made taken written recorded noted stored related that which we i you last this yesterday today at by dated
    """.split()
)
"""After a noun these go on with its phrase; any other word makes a compound of it, or a sentence about it."""
AFTER_SHOWN: Final = frozenset(
    "about regarding concerning tagged labelled labeled since under below from".split()
)
"""`show notes …` is an order to a program's author as often; only these go on as one speaks of records."""
IN_QUESTIONS: Final = frozenset("did do have has had were was are is exist".split())

_NOUN: Final = "|".join(sorted(KIND_OF, key=len, reverse=True))
AND_MORE: Final = re.compile(
    rf"(?:\s*,\s*(?:and\s+|or\s+)?|\s+(?:and|or)\s+)(?:(?:the|my|our|all|any)\s+)*(?P<noun>{_NOUN})\b",
    re.IGNORECASE,
)
"""Another noun for records beside one: "decisions, notes and todos"."""
ASKED_OF: Final = re.compile(
    r"\s*(?:(?:did|do|have|had|has)\s+(?:we|i|you|they|the team)\b|exist\b"
    r"|(?:were|was|have been|has been|are|is)\s+(?:\w+ly\s+)?"
    r"(?:made|taken|written|tagged|pinned|open|left|recorded|there|noted|known|pending|labell?ed)\b)",
    re.IGNORECASE,
)
"""How a question goes on after `which decisions`: with who made them, or that they are there."""

HEADS: Final = re.compile(
    r"(?:(?:please|kindly|now|ok|okay|hey|hi|so|and|just),?\s+)*"
    r"(?:(?:can|could|would|will) you (?:please |kindly )?|(?:i|we)(?:'d| would) like to (?=see|read|know)"
    r"|(?:i|we) (?:want|need) to (?=see|read|know)|let me (?=see|read))?"
    r"(?:please\s+)?"
    r"(?:(?P<given>(?:show|give|tell|get|find|fetch|bring|send|list|read) (?:me|us)(?: again)?)"
    r"|(?P<listed>list|find|get|fetch|look up|pull up|bring up|recall|search(?: for| through)?|go through|see|read"
    r"|summari[sz]e|recap|remind (?:me|us) of)"
    r"|(?P<shown>show|display|print)"
    r"|(?P<which>(?:which|what|how many)(?: of (?=(?:the|our|my)\b))?(?! (?:is|are|was|were|do|does|did|have|has)\b))"
    r"|(?P<are>what (?:are|were|is|was)|where are|(?:are|were|is) there|(?:do|did) (?:we|i|you) (?:already )?have"
    r"|have (?:we|i) (?:got )?(?=any\b|some\b|no\b|a\b)))\b\s*",
    re.IGNORECASE,
)
"""How a request for records begins: with whoever is given them, a verb that lists, or a question for what there is."""

_WHO: Final = r"(?:(?i:we|i|you|they|(?:the|our) team|everybody|everyone)|[A-Z][a-z]+)"
_OFTEN: Final = r"(?:\s+(?:already|ever|finally|just|last|actually|all))?"
_TOLD: Final = (
    r"(?i:(?:(?:show|tell|remind)\s+(?:me|us)(?:\s+again)?|do\s+you\s+(?:remember|know)|i\s+forgot)\s+)?"
)
DECIDED: Final = re.compile(
    rf"(?:{_TOLD}(?i:what(?: all)?)\s+"
    rf"(?:(?:did|have|had|has)\s+{_WHO}{_OFTEN}\s+(?:decided?|agreed?|settled?)"
    rf"|{_WHO}(?:\s+(?:have|had|has))?{_OFTEN}\s+(?:decided|agreed|settled)"
    rf"|(?:was|were|has been|have been|had been){_OFTEN}\s+(?:decided|agreed|settled))"
    rf"|(?i:did|have|had)\s+{_WHO}{_OFTEN}\s+(?:decided?|agreed?|settled?)"
    r"(?=\s+(?:on|about|whether|anything|something)\b))\b"
    r"(?=\s*$|\s*[,?.!]|\s+(?:on|about|for|regarding|concerning|to|with|in|at|since|before|after|until|during|last"
    r"|this|yesterday|today|whether|anything|something|between|from|over|within)\b)"
)
NOTED: Final = re.compile(
    rf"(?i:what(?: all)?)\s+(?:did|have|had)\s+{_WHO}{_OFTEN}\s+"
    r"(?:(?P<noted>noted?(?: down)?|jot(?:ted)? down|wr(?:ite|itten) down)|remember(?:ed)?|record(?:ed)?)\b"
    r"(?=\s*$|\s*[,?.!]|\s+(?:on|about|for|regarding|concerning|in|from|since|before|after|until|during|last|this"
    r"|yesterday|today|between|under|within|over)\b)"
)
PINNED: Final = re.compile(
    rf"(?i:what\s+(?:is|are)|what\s+(?:did|have)\s+{_WHO}|everything|anything|all)\s+"
    r"(?:that\s+(?:is|are)\s+|(?:we|i)\s+have\s+)?pin(?:ned)?\b"
    r"(?=\s*$|\s*[,?.!]|\s+(?:about|on|regarding|concerning|tagged|since|from|in\s+(?:the\s+)?space)\b)"
)
TAGGED: Final = re.compile(
    rf"(?i:what\s+is|what\s+(?:did|have)\s+{_WHO}|everything|anything|all)\s+"
    r"(?:that\s+(?:is|are)\s+|(?:we|i)\s+have\s+)?(?=(?:tag(?:ged)?|labell?ed)\b)"
)
"""Verbs that ask for records: what was decided, noted, pinned, tagged. What follows must go on as a request."""
_TAG: Final = r"(?:\"[^\"]+\"|'[^']+'|#?[\w][\w./-]*[\w]|#?\w)"
TAGS: Final = re.compile(
    r"(?<!\babout )(?<!\bon )(?<!\bfor )(?<!\bof )(?<!\bregarding )"
    r"\b(?:(?:that|which|and)\s+)?(?:(?:is|are|were|was)\s+)?(?:(?:tag(?:ged)?|labell?ed)(?:\s+(?:as|with))?"
    r"|(?:with|under)\s+(?:the\s+)?(?:tags?|labels?)|having\s+the\s+tags?)"
    rf"\s+(?:the\s+tags?\s+)?(?P<tags>{_TAG}(?:(?:\s*,\s*(?:and\s+)?|\s+and\s+){_TAG})*)",
    re.IGNORECASE,
)
SPACES: Final = re.compile(
    r"\b(?:in|from|of|within|inside)\s+(?:(?:the\s+|our\s+|my\s+)?space\s+(?:called\s+|named\s+)?[\"']?(?P<named>[\w][\w./-]*)[\"']?"
    r"|(?:the|our|my)\s+[\"']?(?P<before>[\w][\w./-]*)[\"']?\s+space\b)",
    re.IGNORECASE,
)
LAYERS: Final = re.compile(
    r"\b(?:in|from|of)\s+(?:the|our|my)\s+(?P<layer>session|project|user|governance|vector)\s+layer\b",
    re.IGNORECASE,
)
_ROOTS: Final = (
    r"(?:src|docs?|libs?|tests?|apps?|packages|scripts|examples|include|cmd|internal|config|tools|benchmarks)"
)
_PATH: Final = r"[\w.*@~+-]*(?:/[\w.*@~+-]+)*/?"
PATHS: Final = re.compile(
    r"\b(?:"
    rf"(?:under|below|beneath)\s+(?:the\s+path\s+)?[`\"']?(?P<under>(?=[\w.*@~+-]*/){_PATH})"
    rf"|(?:in|from|of|under|below|inside)\s+(?:the\s+)?(?:folder|directory|file|path)\s+[`\"']?(?P<called>(?=[\w.]){_PATH})"
    rf"|(?:in|from|of|under|below|inside)\s+(?:the\s+)[`\"']?(?P<folder>(?=[\w.]){_PATH})[`\"']?\s+(?:folder|directory)\b"
    rf"|(?:in|from|inside|of)\s+[`\"']?(?P<file>(?=[\w.*@~+-]*/)(?:{_ROOTS}/{_PATH}|(?:[\w.@~+-]+/)+[\w.*@~+-]+\.[a-z]\w{{0,4}}"
    rf"|[\w.@~+-]+/(?:[\w.@~+-]+/)+[\w.@~+-]*|[\w.@~+-]+/(?=\s|$)))"
    r")[`\"']?(?=[\s,?.!]|$)",
    re.IGNORECASE,
)
"""A path is what looks like one: with a slash and a place before it, or called a folder or a file."""
ANOTHER_ORDER: Final = re.compile(
    r"\band\s+(?:then\s+|also\s+|please\s+)?\w+\s+(?:them|it|those|these|each|every|all|one)\b", re.IGNORECASE
)
"""More is to be done with them: that is a task."""
LEFT_OPEN: Final = re.compile(
    r"(?<!\S)(?:in|about|on|for|to|with|of|from|by|at|under|as|into)$", re.IGNORECASE
)
"""A question for what stands after its last word: "What are my notes written in?"."""
FINITE: Final = re.compile(
    r"\b(?<!that )(?<!which )(?<!we )(?<!i )(?<!you )(?<!they )"
    r"(?:is|are|was|were|does|did|do|has|have|had|should|must|can|cannot|could|will|would|may|might|crash(?:es)?"
    r"|fails?|breaks?|need|needs|take|takes|get|gets|seem|seems|look|looks)\b",
    re.IGNORECASE,
)
"""A verb of its own makes a statement of what begins like a list."""
