"""Where in a question the words of a class stand: patterns on its shape, what each speaks for, and how much."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from hexad.layers.router.question_words import WH
from hexad.memory.layer_names import QueryClass


@dataclass(frozen=True, slots=True)
class Rule:
    """A pattern on the question without its politeness, what it speaks for, how much, and in words why."""

    query_class: QueryClass
    weight: float
    pattern: re.Pattern[str]
    reason: str


def _rule(query_class: QueryClass, weight: float, pattern: str, reason: str) -> Rule:
    return Rule(query_class, weight, re.compile(pattern), reason)


LIKING: Final = r"(?:prefer|like|love|enjoy|hate|dislike|avoid|favou?r|tend|trust|value)"
USUALLY: Final = r"(?:usually|normally|always|generally|typically|mostly|often|never|rarely|personally)"
NOT_A_TASK: Final = (
    r"(?! (?:need|have to|must|get|type|call|run|set|put|pass|start|begin|add|find|fix|make|change|install|enter"
    r"|supply|specify|configure|access|have access|see|open|send|do\b))"
)
PERSONAL: Final = (
    r"(?:opinions?|views?|stance|attitude|pet peeves?|name|nickname|role|job|time ?zone|editor|shell|setup|background"
    r"|level|mood|habits?|anti-?patterns?|principles|philosophy|rules of thumb|routine|interests|goals|working hours)"
)
PARTS: Final = (
    r"(?:modules?|services?|components?|classes|class|packages?|layers?|files?|functions?|parts?|systems?)"
)
PAST: Final = (
    r"(?:added|agreed|approved|broke|built|changed|chose|caused|committed|created|decided|deleted|dropped|fixed"
    r"|happened|introduced|made|merged|migrated|moved|picked|proposed|rejected|removed|renamed|replaced|reverted"
    r"|said|suggested|switched|told|touched|voted|went|worked|wrote)"
)
RULES: Final[Sequence[Rule]] = (
    _rule(
        QueryClass.FACTUAL,
        1.5,
        r"^(?:tell|give|show|remind) (?:me|us) (?:the|what|which|who|when|where|whether|if|of the) ",
        "it asks for a fact",
    ),
    _rule(
        QueryClass.USER,
        3.5,
        r"(?<!can )(?<!could )(?<!do )(?<!to )\bi (?:\w+ly )?(?:find|refuse|consider|believe"
        r"|swear by|insist|expect|regret|struggle|mind"
        r"|feel|own)\b(?! out)"
        r"|\bmy (?:\w+ ){0,2}?(?:experience|default \w+|knowledge|mistakes|ideal|attention)\b"
        r"|\b(?:answers?|explanations?|replies|code) (?:to|for) me\b|\byou (?:know|remember) about me\b|\bi like\b",
        "it asks about somebody",
    ),
    _rule(
        QueryClass.HISTORICAL,
        3.0,
        r"(?<!if )\b(?:we|they|you|i|the team|anyone|anybody|somebody|someone|people) (?:\w+ly )?(?!need|feed"
        r"|seed|speed|exceed|embed|bleed)[a-z]{3,}ed\b"
        r"|\b(?:won|lost|went wrong|got (?:slower|faster|worse|better|broken))\b|\bsince (?:i|we|you) \w+"
        r"|\b(?:new|changes?|happened|progress) since\b|\b(?:prompted|led to|triggered|motivated) (?:the|our|this)\b",
        "it tells what somebody did",
    ),
    _rule(
        QueryClass.ARCHITECTURAL,
        3.5,
        rf"^(?:which|what|how many) (?:other )?{PARTS} (?!contains|holds|defines|has|is|are)(?:does|do|(?:\w+)s)\b"
        r"|\b(?:cycles?|circular (?:imports?|dependenc\w+)) (?:between|among|in)\b"
        r"|\b(?:inherits? from|subclass(?:es)? of|implementations? of|derives? from)\b"
        r"|\bpath of (?:a|an|the)\b|\b(?:hooked up|tied|plugged|attached|bound|wired up|glued) (?:to"
        r"|in|into|together)\b"
        r"|\bwithout (?:the )?[\w-]+ (?:process|service|server|module|package|component)\b"
        r"|\bdepends? on\b|\bsource of truth\b",
        "it asks how parts hang together",
    ),
    _rule(
        QueryClass.PROCEDURAL,
        3.0,
        r"^(?:what|which) commands?\b|^what is (?:needed|required|necessary) (?:to|for)\b|^(?:can"
        r"|could|may) (?:i|we|one) (?!comment|find|see)[a-z]+\b"
        r"|\b(?:checklist|runbook|playbook|how-?to|walkthrough|cheat ?sheet)\b|^how (?:do|does|can"
        r"|should) (?:\w+ )?(?:contributors?|maintainers?|reviewers?|admins?|newcomers?|customers?"
        r"|folks)\b",
        "it asks how something is done",
    ),
    # The person who asks.
    _rule(
        QueryClass.USER,
        4.0,
        r"\bmy (?:\w+ ){0,2}?(?:preferred|preferences?|favou?rites?|usual|habits?|style|tastes?|go-to"
        r"|workflow|expertise"
        r"|skills?|conventions?|strengths|weaknesses|experience level|level of experience|defaults?|routine)\b",
        "it asks for somebody's own preferences",
    ),
    _rule(
        QueryClass.USER,
        4.0,
        rf"\bi {USUALLY}\b|\bmy\b.*\b{USUALLY}\b",
        "it asks what somebody usually does",
    ),
    _rule(
        QueryClass.USER,
        4.0,
        rf"\b(?:do|did|would|that|which|what|tools?|if) i (?:\w+ly )?{LIKING}\b|\bi (?:told you i )?{LIKING} ",
        "it asks what somebody likes or avoids",
    ),
    _rule(
        QueryClass.USER,
        4.0,
        rf"\bi {LIKING}[.?!]*$|\bi {LIKING} (?:best|most|least|more)\b",
        "it asks what somebody likes or avoids",
    ),
    _rule(
        QueryClass.USER,
        4.0,
        r"^am i\b|\bhow (?:well|much|good|experienced) (?:do|am) i\b",
        "it asks what somebody is like",
    ),
    _rule(
        QueryClass.USER,
        4.0,
        r"\bi am (?:\w+ )?(?:experienced|fluent|good|familiar|new to|strong|weak|comfortable)\b"
        r"|\bam i (?:\w+ )?(?:experienced|fluent|good|familiar|comfortable)\b|\bdo i (?:want|expect) in\b"
        r"|\bdo i want\b",
        "it asks what somebody knows or wants",
    ),
    _rule(
        QueryClass.USER,
        4.0,
        r"\bthe user(?:'s)? (?:usually |normally )?(?:prefers?|preferences?|favou?rites?|likes?|dislikes?"
        r"|wants?|habits?|tends?|style)\b",
        "it asks what the user prefers",
    ),
    _rule(
        QueryClass.USER,
        3.5,
        rf"^(?:(?:in|at|on|for|to|by|from|with) )?(?:what|which|how (?:much|often|well"
        rf"|long))(?: [\w-]+){{0,4}}? (?:do|am|would|have) i\b{NOT_A_TASK}",
        "it asks what somebody does or has",
    ),
    _rule(
        QueryClass.USER, 3.5, rf"^(?:do|am|would|have) i\b{NOT_A_TASK}", "it asks what somebody does or is"
    ),
    _rule(
        QueryClass.USER,
        4.0,
        rf"\bmy (?:\w+ ){{0,2}}?{PERSONAL}\b|\b(?:suits?|annoys?|bothers?|bores?|fits?"
        rf"|works? best for) me\b|\bhow do i (?:want|write|name|format|phrase|spell|call"
        rf"|sign)\b.*\b(?:written|named|formatted|messages?|myself)\b|\bi (?:keep|reach for|go by"
        rf"|go with|stick (?:to|with)|care about|work with)\b",
        "it asks about somebody",
    ),
    _rule(
        QueryClass.USER,
        4.0,
        rf"\bth(?:e|is) user(?:'s)? (?:{USUALLY}|{PERSONAL})\b",
        "it asks about the user",
    ),
    # What was.
    _rule(
        QueryClass.HISTORICAL,
        3.5,
        r"^how come we\b|\b(?:we|they|you|i|the team|anyone|anybody|everyone|somebody"
        r"|someone) (?:last |first |ever |once |already )?(?:went|left|moved|had|got|took|gave|found"
        r"|began|kept|wrote|made|built|ran|came|fixed|tried|used|started|stopped|dropped|added"
        r"|removed|changed|signed|switched|shipped|released)\b",
        "it tells what somebody did",
    ),
    _rule(
        QueryClass.HISTORICAL,
        3.0,
        r"\b(?:conversations?|discussions?|meetings?|talks?|chats?|retros?|debates?|thread"
        r"|minutes) (?:about|on|with|of|where|from)\b|\b(?:record|trace|log) of why\b|\bso far\b"
        r"|\bleft off\b|\bthis morning\b|\b(?:in|during|back in|of|until|before|after) (?:19"
        r"|20)[0-9]{2}\b|\bpast (?:decisions?|discussions?|incidents?|releases?)\b",
        "it asks for what has been",
    ),
    _rule(
        QueryClass.HISTORICAL,
        3.0,
        r"^(?:who|what|which(?: (?!is |are |be |was |were )\w+)+?)(?: has| have)? (?:first |last "
        r"|ever |already )?(?:been done"
        r"|shipped|signed off|started|stopped|built|wrote|got (?:\w+ed)|became|caused"
        r"|[a-z]{3,}(?<!ne)(?<!us)(?<!ne)ed)(?: (?!by default|to\b|in the)|[.?!]*$)",
        "it asks who or what did something",
    ),
    _rule(
        QueryClass.HISTORICAL,
        2.5,
        r"\b(?:was|were|had been|has been|have been) (?:\w+ly )?(?:done|said|made|taken|built|handled"
        r"|written|[a-z]{3,}ed)\b",
        "it asks what was done",
    ),
    _rule(
        QueryClass.HISTORICAL,
        3.0,
        rf"^(?:{WH}|in which|since when)(?: \w+){{0,3}} (?:did|was|were|had)\b",
        "it asks in the past tense",
    ),
    _rule(
        QueryClass.HISTORICAL,
        3.0,
        r"^(?:did|was|were|had) (?:we|i|you|they|anyone|anybody|somebody|someone|the|it|there)\b",
        "it asks whether something was",
    ),
    _rule(
        QueryClass.HISTORICAL,
        3.0,
        rf"^(?:who|what|which \w+)(?: has| have)? {PAST}\b",
        "it asks who or what did something",
    ),
    _rule(
        QueryClass.HISTORICAL,
        2.0,
        rf"\b(?:has|have|had) (?:we |i |you |they |already |ever |just |recently )*(?:been )?{PAST}\b"
        rf"|\bi (?:told|said)\b|\bdid i (?:tell|say)\b",
        "it asks what has happened",
    ),
    _rule(
        QueryClass.HISTORICAL,
        2.0,
        r"\byesterday\b|\bearlier (?:today|this)\b|\bago\b|\b(?:last|previous|past) (?:\w+ )?(?:week"
        r"|month|year|sprint|quarter|release|version|time|session|night|days?|weeks|months|monday|tuesday"
        r"|wednesday|thursday|friday|saturday|sunday|january|february|march|april|may|june|july|august"
        r"|september|october|november|december)\b|\bsince (?:when|monday|tuesday|wednesday|thursday"
        r"|friday|saturday|sunday|yesterday|then|the (?:last|previous|release))\b",
        "it names a time that is over",
    ),
    _rule(
        QueryClass.HISTORICAL,
        3.0,
        r"\b(?:originally|formerly|previously|no longer|in the past|back then)\b"
        r"|\bbefore the (?:\w+ )?(?:rewrite|refactoring|refactor|migration|move|change|release|switch"
        r"|redesign)\b|\b(?:previous|former|old|original) (?:value|name|version|behaviou?r|setting|owner"
        r"|default)\b",
        "it asks about how it was",
    ),
    _rule(
        QueryClass.HISTORICAL,
        3.0,
        r"\b(?:history|timeline|story|origins?|evolution|changelog) (?:of|behind)\b",
        "it asks for a history",
    ),
    _rule(
        QueryClass.HISTORICAL,
        3.0,
        r"\b(?:decisions?|rationale|reasoning|reasons?)\b(?! (?:tree|table|code))(?= (?:about|on|for"
        r"|behind|regarding|concerning|to|was|were|we|i|they|made|taken)\b|[.?!]*$)",
        "it asks for decisions or their reasons",
    ),
    _rule(
        QueryClass.HISTORICAL,
        3.0,
        r"\bwe (?:\w+ )?(?:decide|choose|agree|settle|pick|reject|discuss|consider)(?:d|ed)?\b"
        r"|\bwe (?:chose|picked|rejected|agreed|settled)\b",
        "it asks what was decided",
    ),
    # How things hang together.
    _rule(
        QueryClass.ARCHITECTURAL,
        4.0,
        r"^how (?:is|are) .+ (?:structured|organi[sz]ed|laid out|layered|separated|composed|wired"
        r"|connected|put together|split|arranged|divided|modelled|modeled|shared|coupled|decoupled|linked"
        r"|integrated|partitioned|layered|implemented|set up|glued|grouped|nested|designed)\b",
        "it asks how something is put together",
    ),
    _rule(
        QueryClass.ARCHITECTURAL,
        3.5,
        r"\b(?:architecture|architectural|topology|module structure|module boundar\w+|data ?flow"
        r"|control flow|call graph|dependency (?:graph|tree)|class hierarchy|(?:repository|repo|project"
        r"|folder|directory|package|code|module) (?:layout|structure|organi[sz]ation)|big picture)\b"
        r"|\bstructure of\b",
        "it asks for the structure",
    ),
    _rule(
        QueryClass.ARCHITECTURAL,
        3.5,
        r"^(?:what|who|which(?: other)? \w+)(?: else)? (?:\w+ly )?(?:depends?|relies|rely|calls?|imports?"
        r"|uses?|talks?|implements?|extends?|inherits?|subclass\w*|consumes?|invokes?|references?"
        r"|touch(?:es)?|wraps?|reads?|writes?|sends?|listens?|subscribes?)\b",
        "it asks what is connected with what",
    ),
    _rule(
        QueryClass.ARCHITECTURAL,
        4.0,
        r"^how (?:do|does) .+ (?:communicate|interact|fit|relate|talk|work together|connect|cooperate"
        r"|collaborate|depend|play together|hang together|interface)\b",
        "it asks how parts work together",
    ),
    _rule(
        QueryClass.ARCHITECTURAL,
        3.5,
        r"\b(?:relation(?:ship)?|boundary|boundaries|interplay|coupling|interface|separation"
        r"|seams?) (?:between|of)\b",
        "it asks what lies between parts",
    ),
    _rule(
        QueryClass.ARCHITECTURAL,
        3.0,
        rf"\b(?:main|core|major|key|central|individual) {PARTS}\b|\boverview of (?:the|our"
        rf"|this) (?:\w+ )?(?:system|architecture|repository|repo|code ?base|code|project|stack|services)\b",
        "it asks for the parts of the whole",
    ),
    _rule(
        QueryClass.ARCHITECTURAL,
        3.5,
        r"^where (?:does|do|is|are) .+ (?:happen|live|sit|fit|belong|take place|get called|done|performed"
        r"|handled)\b",
        "it asks where something has its place",
    ),
    _rule(
        QueryClass.ARCHITECTURAL,
        3.5,
        r"^what (?:would|will|could|might|happens|breaks|else)\b.* (?:break|breaks|be affected|fail"
        r"|stop working|if (?:i|we) (?:remove|removed|change|changed|delete|deleted|rename|renamed|drop"
        r"|move))\b",
        "it asks what a change would reach",
    ),
    _rule(
        QueryClass.ARCHITECTURAL,
        3.0,
        r"\b(?:coupled|decoupled|entry points?|inheritance|hierarchy|dependency injection|call (?:chain"
        r"|hierarchy|sites?|path)|(?:component|class|sequence|architecture) diagram|layers of"
        r"|building blocks|callers?|dependents|consumers of|upstream|downstream)\b|\b(?:else )?(?:is|are"
        r"|gets?) affected\b|^(?:what|which \w+) (?:sits?|stands?|lies?|comes?) (?:between|behind"
        r"|in front of|under)\b|\b(?:fit|hang|work|belong|go) together\b",
        "it asks how parts hang together",
    ),
    _rule(
        QueryClass.ARCHITECTURAL,
        3.5,
        rf"^(?:(?:through|in|from|by|via|across) )?(?:what|which)(?: other)? {PARTS}\b.*\b(?:know|knows"
        rf"|call|calls|calling|import|imports|importing|use|uses|pass|passes|depend|depends|touch|involved"
        rf"|reference|references|handle|handles|share)\b|^which (?:tables?|columns?|interfaces?|endpoints?"
        rf"|schemas?) (?:references?|points? to|belongs?|depends?|joins?|inherits?)\b",
        "it asks which parts are connected",
    ),
    _rule(
        QueryClass.ARCHITECTURAL,
        3.0,
        r"^how (?:is|are) .+ (?:done|handled|managed|routed|dispatched|resolved|propagated|passed|stored"
        r"|represented|abstracted|isolated|exposed|shared|loaded|kept in sync"
        r"|synchroni[sz]ed)(?: \w+){0,5}[.?!]*$|^how (?:does|do) .+ (?:get|flow|travel|go|move|pass"
        r"|reach)\b(?: \w+)* ?(?:from|to|into|through)\b",
        "it asks by which way something goes",
    ),
    # How something is done.
    _rule(
        QueryClass.PROCEDURAL,
        3.5,
        r"^how (?:is|are) (?:an? |new |\w+ )?.*\b(?:cut|made|added|created|run|released|deployed"
        r"|installed|published|started|tested|built|registered|requested|triggered|updated|upgraded"
        r"|removed|renewed|rotated)(?: (?:here|locally|by hand|manually|in \w+))?[.?!]*$|^what (?:must"
        r"|has to|needs to|should) (?:be done|happen)\b|^where (?:do|should|can) (?:i|we|you"
        r"|one) (?:begin|start)\b|\bhow (?:one|you|we|i|people) (?:would|could|should|can|might)\b"
        r"|^how (?:does|do|can|should) (?:an? )?(?:new )?(?:team )?(?:members?|developers?|contributors?"
        r"|users?|people|beginners?|somebody|newcomers?) (?:get|set|start|join|install|run|obtain"
        r"|request)\b",
        "it asks how something is done",
    ),
    _rule(
        QueryClass.PROCEDURAL,
        2.5,
        r"^(?:setting up|getting started|installing|deploying|running|configuring|building|upgrading"
        r"|migrating|releasing|publishing|debugging|testing) ",
        "it names something to be done",
    ),
    _rule(
        QueryClass.PROCEDURAL,
        3.0,
        r"^how (?:do|can|should|would|could|does|might|must) (?:i|we|you|one|someone|somebody|people"
        r"|developers)\b|\bhow to\b",
        "it asks how something is done",
    ),
    _rule(
        QueryClass.PROCEDURAL,
        3.0,
        r"\b(?:steps?|commands?|process|procedure|instructions?|recipe|guide|walkthrough|tutorial"
        r"|checklist|playbook|runbook)\b (?:to|for|of|are needed|is needed|on|needed|required)\b"
        r"|\bstep by step\b",
        "it asks for steps or a command",
    ),
    _rule(
        QueryClass.PROCEDURAL,
        3.0,
        r"^walk (?:me|us) through\b|^(?:show|teach|tell) (?:me|us) how\b|\b(?:a|the|any|best|easiest"
        r"|right|quickest|recommended|proper) way to\b|^what (?:do|must|should) (?:i|we|you) (?:need"
        r"|have) to\b|^what (?:do|must|should) (?:i|we) do\b",
        "it asks how something is done",
    ),
)
