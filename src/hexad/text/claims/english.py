"""The small closed classes of English that carry a clause, and verbs that say that something changed."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


BE: Final = _words(
    """
    is are am was were be been being 's 're 'm isn't aren't wasn't weren't
    """
)
HAVE: Final = _words("has have had 've hasn't haven't hadn't")
DO: Final = _words("do does did don't doesn't didn't")
MODALS: Final = _words(
    """
    will would can could may might shall should must 'll 'd won't wouldn't can't couldn't shouldn't mustn't
    cannot
    """
)
AUXILIARIES: Final = BE | HAVE | DO | MODALS | _words("get gets got gotten")
NEGATIONS: Final = _words(
    """
    not never no isn't aren't wasn't weren't hasn't haven't hadn't don't doesn't didn't won't wouldn't can't
    couldn't cannot shouldn't mustn't neither nor without
    """
)
DETERMINERS: Final = _words(
    """
    a an the this that these those all both each every some any same own such its their his
    her your my our new old current
    """
)
PREPOSITIONS: Final = _words(
    """
    in on at to for from of by with into onto over under via through about around near inside within across
    behind below above per off out up down against among between during toward towards upon using as than
    like after before until since
    """
)
FIRST_PERSON: Final = _words(
    """
    i we me us my our mine ours myself ourselves i'm we're i've we've i'll we'll i'd we'd
    """
)
SPEAKERS: Final = _words("i we us me i'm we're i've we've")
POSSESSIVES: Final = _words("my our your his her its their")
OTHERS: Final = _words("his her their its")
"""What leads to what is of neither who speaks nor who is spoken to."""
THIRD_PERSON: Final = _words(
    """
    he she it they him her them his hers its their theirs that this these those there
    """
)
PRONOUNS: Final = (
    FIRST_PERSON
    | THIRD_PERSON
    | _words(
        """
    you your yours who everyone everybody someone somebody nobody  everything something nothing anything
    it's he's she's they're that's there's
    """
    )
)
CONJUNCTIONS: Final = _words(
    """
    why how what and or but so because while when whenever where which who whose that if unless till though
    although whereas then plus yet
    """
)
ADVERBS: Final = _words(
    """
    now today currently already still finally actually recently lately again also just only really very
    quite rather anymore nowadays here there then always usually mostly often sometimes basically officially
    permanently fully completely entirely instead longer soon later yesterday tonight tomorrow ago too well
    even exactly please meanwhile presently henceforth onwards onward forward any more once ever yes no okay
    ok right so apparently back
    """
)
SAID_OF_TIME: Final = ADVERBS | {"the", "a", "an", ",", "new", "old"}
"""Words that tell when something holds, or nothing: two clauses may be one but for these."""
STOPPED: Final = _words("stopped quit")
NO_MORE: Final = _words("anymore more longer")
NOW: Final = _words("now nowadays currently today anymore instead henceforth presently")
RETURNS: Final = _words("back again")
"""What is "back on" something, or there "again", was elsewhere in between."""
PLANS: Final = _words(
    """
      planning want wants wanted hope hopes hoping consider considers considering considered think
    thinks thinking propose proposes proposed proposing suggest suggests suggested suggesting evaluate
    evaluates evaluating wonder wondering intend intends might  could would should will shall won't 'll
    'd wouldn't shouldn't couldn't maybe perhaps possibly probably try tries trying tried discuss discussed
    discussing imagine suppose supposed wish wishes wished expect expects expecting almost nearly thought
    idea proposal going gonna whether i'll we'll i'd we'd i'd'
    """
)
SOON: Final = _words("next soon later someday tomorrow future")
"""Beside such a word "may" says that something is not sure: "Ann may lead the team next year". Else it gives leave."""
CONDITIONS: Final = _words(
    """
    if unless whether suppose supposing assuming imagine once when whenever
    """
)
HEARSAY: Final = _words(
    """
    says said say claims claimed claim wrote writes according rumor rumour    quoted
    """
)
ADDS: Final = _words(
    """
    also too another additionally besides second both either moreover extra
    """
)
"""Words by which something comes beside what is there."""
GONE: Final = _words(
    """
    gone retired history dead deprecated over obsolete discontinued out deleted removed
    """
)
"""What is said of what is no more."""
IRREGULAR: Final = _words(
    """
    ate drank met saw came ran made said told gave got found lost won sent spent built kept held led left
    felt heard  wrote spoke broke brought bought caught drew drove fed flew forgot fought knew laid
    lent meant paid  rode rang sang sat sold shot showed  slept stood stole taught thought threw
    understood woke wore had did was were went took began chose
    shipped
    """
)
"""Pasts without -ed."""
PAST: Final = _words("formerly previously originally once historically initially earlier")

CHANGE: Final = _words(
    """
    move moves moved moving switch switches switched switching change changes changed changing migrate
    migrates migrated migrating relocate relocates relocated replace replaced become becomes became turn
    turned raise raised raises raising lower lowered lowers increase increased increases decrease decreased
    reduce reduced bump bumped bumps upgrade upgraded upgrades downgrade downgraded update updated updates
    rename renamed shift shifted transfer transferred transition transitioned convert converted revert
    reverted reset set sets cut adjust adjusted extend extended shorten shortened rewrite rewrote rewritten
    ported reschedule rescheduled postpone postponed push pushed pulled go goes went gone join joins joined
    adopt adopted settle settled take takes took taken hand handed promote promoted reassign reassigned
    double doubled halve halved triple tripled grow grew grown rise rose risen fall fell fallen land landed
    pick picked choose chose chosen decide decided agree agreed standardize standardized standardise
    standardised consolidate consolidated end ended hire hired sign signed redirect redirected expand
    expanded cap capped start started begin began begun swap swapped trade traded appoint appointed elected
    named delay delayed slipped advance advanced
    """
)
"""Verbs by which something comes to be otherwise than it was; without regard to what it is."""

ENDING: Final = _words(
    """
    left leave quit abandoned dropped ditched retired uninstalled removed replaced replaces deprecated
    scrapped dumped abandon drop ditch retire uninstall stopped stop quitting leaving replacing dropping
    sunset decommissioned cancelled canceled discontinued discontinue outgrew outgrown killed shelved
    swapped traded sold
    """
)
"""Verbs whose object is over."""

LEAVES: Final = _words("left quit resigned")
"""Verbs by which somebody is no more with those they worked, taught, or played for."""
SERVES: Final = _words(
    """
    work works working employed teach teaches teaching volunteer volunteers volunteering study studies studying
    play plays playing sing sings singing train trains training coach coaches coaching serve serves serving
    intern interns interning freelance freelances
    """
)
"""What somebody does for others, as long as they are with them."""

OVER: Final = {
    "debt": _words("paid repaid settled reimbursed"),
    "couple": _words("broke broken split separated divorced"),
    "holding": _words("closed terminated"),
    "date": _words("cancelled canceled called scrapped"),
    "activity": _words("finished completed"),
    "loan": _words("returned gave given brought handed"),
    "office": _words("left resigned"),
    "household": _words("moved"),
    "fault": _words("fixed repaired mended resolved"),
}
"""Verbs by which something is over that older words told of by others, by what that is."""
OVER_VERBS: Final = frozenset[str]().union(*OVER.values())

ROLES: Final = _words(
    """
    lead leads led own owns owned manage manages managed maintain maintains maintained chair chairs head
    heads handle handles coordinate coordinates represent represents
    """
)
"""Verbs whose subject is the value: somebody who leads, owns or maintains something."""

CORRECTIONS: Final = _words(
    "actually correction corrected no oops sorry wrong update misread typo correct scratch mistake fix"
)
"""What a sentence begins with that puts another one right."""
NUMBERS: Final = _words(
    """
    one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen
    nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million half quarter dozen
    """
)
RELATIONS: Final = {
    "place": _words(
        """
    live lives lived living reside resides based located base relocated relocate settled move moved moves
    stay stays sit sits sitting home address
    """
    ),
    "work": _words(
        """
    work works working employed join joined joins hired job employer signed started
    """
    ),
    "means": _words(
        """
    use uses using rely relies run runs running adopt adopted switch switched migrate migrated build
    builds built choose chose chosen picked standardized standardised written rewritten rewrote ported
    deploy deploys deployed hosted host hosts store stores stored keep keeps kept
    """
    ),
    "name": _words("called named renamed name rename"),
    "taste": _words(
        """
    prefer prefers like likes love loves favor favors favour favours favorite favourite enjoy enjoys
    """
    ),
    "food": _words("eat eats eating drink drinks drinking"),
    "role": ROLES | _words("owned led managed maintained took takes handed"),
    "time": _words(
        """
    happens happen starts start begins meets meet scheduled rescheduled held takes due
    """
    ),
}
"""Verbs that speak of one relation."""

# Of what is not so, or may not be: words of which a text that says so has at least one ---------------------------

FORMER_ONE: Final = _words("former erstwhile onetime")
DOUBTS: Final = _words("maybe perhaps possibly probably potentially hypothetically")
UNSURE: Final = _words("whether unsure unclear undecided uncertain")
MIGHT: Final = _words("might could")
WISHES: Final = _words(
    """
    hope hopes hoped hoping wish wishes wished wishing dream dreams dreamed dreamt dreaming intend intends intended
    intending aspire aspires aspiring wonder wonders wondered wondering
    """
)
WANTS: Final = _words("want wants wanted wanting")
AIMS: Final = _words("plan plans planned planning aim aims aimed aiming")
CONSIDERS: Final = _words("consider considers")
PROPOSES: Final = _words("propose proposes proposed proposing suggest suggests suggested suggesting")
WEIGHS: Final = PROPOSES | _words(
    """
    considered considering evaluating exploring discussing debating contemplated contemplating pondered pondering
    weighing mulling recommended
    """
)
"""Forms that say that something is weighed or proposed; who discusses something each week only does so."""
THINKS: Final = {
    **dict.fromkeys(("think", "thinks", "talking"), _words("about")),
    **dict.fromkeys(("thinking", "thought"), _words("about of")),
    "looking": _words("into at"),
}
NOTIONS: Final = _words("idea suggestion dream hope wish intention resolution ambition")
PROJECTS: Final = NOTIONS | _words("proposal plan goal aim option possibility")
SUPPOSES: Final = _words("suppose supposing imagine assuming")
MAY_BE_OTHERWISE: Final = (
    PAST | FORMER_ONE | DOUBTS | UNSURE | MIGHT | WISHES | WANTS | AIMS | CONSIDERS | WEIGHS | PROJECTS
    | SUPPOSES | THINKS.keys()
    | _words("used had then previous past those time ago until once when was were longer anymore more may would d 'd")
    | _words("ex if sure someday")
)  # fmt: skip
"""A text with none of these words says what is."""


def may_say_otherwise(words: Collection[str]) -> bool:
    """Whether a text of these words may say what is not so: most have no word for it."""
    return not MAY_BE_OTHERWISE.isdisjoint(words) or any(word.startswith("ex-") for word in words)
