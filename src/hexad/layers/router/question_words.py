"""The words by which the shape of a question is seen: verbs that order, what follows a verb, politeness."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from hexad.core.lazy import lazy_pattern
from hexad.layers.contract import TaskType

VERBS: Final[Mapping[TaskType, frozenset[str]]] = {
    TaskType.EDIT: frozenset(
        """
        abort accept align annotate archive ask assert block bring calculate catch center centre check_in choose close
        combine compile complain compress compute copy count decrease default defer detect display_as document drop_in
        duplicate emphasise encode encrypt escape exclude execute expand fail fetch filter finish flag force format
        forward give grant group guard highlight ignore index inject invert join keep let link load lock lower make mark
        measure memoize mention mute name_it narrow normalise normalize notify number omit order parse pause permit pick
        pipe place point preserve preview print process protect provide publish push query queue quote read rearrange
        recalculate record reject reload render reopen repeat rerun reserve respect restrict resume_on retry reuse_it
        round run sanitise sanitize save schedule scope select serve share shift ship show_it sign silence skip stream
        strip submit subscribe substitute surface sync synchronise synchronize tag terminate time track translate treat
        trigger trim tweak unblock unpin upload verify vendor version warn weigh widen work_around
        add append apply adapt adjust allow amend assign attach bump change configure connect convert correct create
        delete deprecate disable drop edit emit enable enforce ensure expose extend fill fix generate handle hide hook
        implement improve include increase initialise initialize insert install integrate introduce limit make migrate
        mock optimise optimize override pass patch persist pin port prevent print put raise reduce register remove
        repair replace resolve return revert save send set show_in solve sort speed stop store support suppress
        swap switch throw toggle truncate undo update upgrade use validate wire wrap write address cache log
        build test bundle skip ignore
        """.split()
    ),
    TaskType.REFACTOR: frozenset(
        """
        abstract clean cleanup collapse consolidate decompose decouple deduplicate dedupe dry encapsulate extract
        factor flatten shorten loosen break pull unify inline merge modernise modernize modularize move
        refactor rename reorder reorganise reorganize reshape restructure reuse rework rewrite separate
        simplify split streamline tidy
        unnest untangle
        """.split()
    ),
    TaskType.DESIGN: frozenset(
        "architect conceive design devise draft model outline plan propose sketch specify suggest recommend".split()
    ),
    TaskType.RESEARCH: frozenset(
        """
        analyse analyze assess benchmark collect compare find search contrast evaluate examine explore gather
        investigate probe research review study survey weigh
        """.split()
    ),
    TaskType.EXPLAIN: frozenset(
        """
        clarify continue define demonstrate describe display elaborate explain give go illustrate list name outline_of
        recall recap remind resume say show summarise summarize tell walk understand
        """.split()
    ),
}
NOUNS_TOO: Final = frozenset(
    """
    align annotate ask block center centre check close copy count default document duplicate fail fetch filter find
    finish flag force format forward group guard highlight index join keep link load lock lower mark measure mention
    narrow number order parse pause permit place point preview process protect push query queue quote read record reload
    render repeat retry round run save schedule scope search select serve share shift ship sign stream strip surface
    sync tag time track trigger trim tweak vendor version warn work
    abstract address benchmark build bundle cache change clean contrast design draft edit extract fix go handle hook
    inline limit list log mock model move name outline patch pin plan port print probe process process put raise
    rename repair research reset return revert review rework rewrite say set show sketch sort speed split stop store
    study support survey swap switch test toggle update upgrade use walk wrap limit merge resume recap
    """.split()
)
"""Verbs that are as often nouns: at the head they count only where an object follows."""
OBJECT_BEGINS: Final = frozenset(
    """
    a an the this that these those our my your its their his her all any each every both some no it them us me up out
    off down into between how what why which whether when where who
    """.split()
)
NOUN_FOLLOWS: Final = frozenset(
    """
    behaviour behavior case cases code config configuration error errors failure failures feature features flow history
    issue issues list lists logic name names notes options order orders output pipeline plan policy policies problem
    problems process queue rate rates rules status steps strategy system systems table tables time times tokens type
    types warnings window windows
    """.split()
)
"""After a word that can be a verb and a noun these make a name of the two: build failures, address book."""
PREPOSITIONS: Final = frozenset(
    "about after at before behind by during for from in into inside of on onto over per since"
    " through to under until via with within".split()
)
POLITE: Final = lazy_pattern(
    r"^(?:(?:(?:i|we)(?:'d| would) like to know|i wonder|i forgot|do you know|please|kindly|now|next"
    r"|then|also|first|ok|okay|hey|hi|so|well|and|just|quickly|go ahead and|"
    r"(?:can|could|would|will) you(?: please| kindly| also| now)?(?! (?:tell|say))|"
    r"(?:i|we)(?:'d| would) (?:like|love|prefer) (?:to|you to)|(?:i|we) (?:want|need|have|wish|plan"
    r"|am going|are going|will)"
    r"(?: you)? to|i'll|we'll|i am trying to|(?:we|you) should|let us|let's|lets|help me(?: to)?|try to|remember to|"
    r"do(?=\s+not\b)|your task is to|the task is to|todo:?),?\s+)+"
)
WH: Final = r"(?:what|which|who|whom|whose|when|where|why|how)"
AUX: Final = (
    r"(?:is|are|am|was|were|do|does|did|has|have|had|can|could|should|shall|will|would|may|might|must|isn't|aren't"
    r"|don't|doesn't|didn't)"
)
QUESTION: Final = lazy_pattern(rf"^(?:(?:in|at|on|for|to|by|from|since|of|with) )?(?:{WH}|{AUX})\b")
CONTRACTIONS: Final = (
    (lazy_pattern(r"\b(what|who|where|when|how|that|there|here|why)'s\b"), r"\1 is"),
    (lazy_pattern(r"\b(what|who|where|when|how|why)'re\b"), r"\1 are"),
    (lazy_pattern(r"\b(what|who|where|when|how|why)'d\b"), r"\1 did"),
    (lazy_pattern(r"\bi'm\b"), "i am"),
    (lazy_pattern(r"\b(i|we|you)'ve\b"), r"\1 have"),
)
EMBEDDED: Final = lazy_pattern(
    r"^(?:explain|describe|clarify|outline|(?:help|let) (?:me|us) understand|understand|(?:tell|show|teach) (?:me|us))"
    r"(?: (?:to (?:me|us)|again|briefly|in (?:short|detail|brief|your own words)|once more|exactly|please"
    r"|(?:a bit |some |a little )?(?:more )?about)){0,3},? "
    rf"(?={WH}\b)"
)
"""What only wraps a question: "explain to me how …" asks what "how …" asks."""
CARRIED_ON: Final = lazy_pattern(
    r"^(?:continue|proceed|carry on|go on|get on|press on|keep going|move ahead|go ahead|get going|resume|pick up)"
    r"(?: (?:on|with|working on|work on|doing))* "
    r"(?!(?:with|on|where|from|what|here|there|now|it|this|that|please|then)\b)\w"
)
"""An order to go on with something: it names work to be done. "Continue." alone says nothing of it."""
TOLD_OF: Final = lazy_pattern(
    r"^(?:(?:tell|remind|inform) (?:me|us)(?: (?:more|something|everything|all|a (?:bit|little)))* (?:about|of)"
    r"|(?:explain|describe|clarify|define)(?: (?:to (?:me|us)|again|briefly))*"
    r"|what (?:do|can|could) you (?:know|tell (?:me|us)|say) about)"
    r" (?!(?:it|that|something|anything|everything|more|things?|yourself|how|why|what|when|where|who|which"
    r"|whether|if|like)\b)"
    r"(?!(?:to )?(?:this|these|those|me|us)(?: to\b|[.?!]*$))"
    r"(?!(?:the|our|this|your) (?:\w+ )?(?:project|repo|repository|code ?base)[.?!]*$)\S"
)
"""An order to be told of one thing, which is a question for what is known of it; the whole project is no one thing."""
HELPING: Final = lazy_pattern(r"\b(is|are|was|were|has|have|had|can|could|should|will|would|must)\b")
DID: Final = lazy_pattern(
    r"\b(?!need|feed|embed|speed|shed|red\b|bed\b)[a-z]{2,}ed\b|\b(?:became|chose|came|went|got|broke|built|made|grew)\b"
)
UNKNOWN_VERB: Final = lazy_pattern(
    r"^(?!not\b|no\b|all\b|both\b|half\b|what|which|who|where|when|why|how|if\b|as\b|is\b|are\b"
    r"|there\b|here\b|yes\b|good\b)[a-z]{3,}(?<!ing)(?<!tion)(?<!ness)(?<!ment)(?<!ed)(?<!ly) "
    r"(?:the|a|an|this|that|these|those|our|every|each|all|any|its|it|them) (?!of\b)[\w'-]+"
)
"""A word that we do not know with an object after it: at the head of what is no question that is an order."""
NEGATED: Final = lazy_pattern(r"^(?:do not|don't|never|stop|no longer) (?!you|we|i\b)[a-z]+")
SWITCHED: Final = lazy_pattern(
    r"^(?:turn|switch) (?:on|off) |^(?:up|down)grade to |^(?:show|display) (?:an?|the) .+ (?:when|whenever|if"
    r"|at|in|on|below|above|after|before|next to|instead of) "
    r"|^(?:use|support|log|return|accept|reject) [\w.+#-]+(?: \w+)?"
    r" (?:everywhere|only|instead|always|throughout|uploads?)[.!]*$"
)
"""An order without an article, or to show what a program is to show and not the one who asks."""
OUT_OF: Final = lazy_pattern(r"^(?:get|take|lift|factor|pull|move|keep) .+ (?:out of|apart|away from) ")
WISHED: Final = lazy_pattern(
    r"^(?:i|we)(?:'d| would) (?:like|want|love) (?!to\b|an?\b)(?:the |our |every |all )?[\w' -]+? to [a-z]+|"
    r"^(?:the|our|all|every|each|any|an?|this|that|these|users?|it"
    r"|they)\b(?: [\w'/.-]+){0,8} (?:should|must|needs? to|ought to|has to|have to) "
    r"|^(?:i|we) (?:want|need) (?:an?|some|another|support for) (?!overview|explanation|summary|idea"
    r"|design|plan)|^(?:an?|some) (?!overview|explanation|summary|idea|design|plan)[\w-]+ (?:that"
    r"|which) "
)
"""A wish that is said as a statement: how something should be."""
LAST_CLAUSE: Final = lazy_pattern(r"(?:[;.!:]\s+|,\s+(?:so\s+|then\s+|please\s+|and\s+)?)(?=\w)")

WHY: Final = lazy_pattern(
    r"\bwhy\b|\bhow come\b|\bwhat for\b|\bwhat made (?:us|you|them)\b|\b(?:rationale|justification)\b"
    r"|\breasons? (?:for|behind|why|to|we|that)\b|\breasoning behind\b"
)
DECISION: Final = lazy_pattern(
    r"\bdecisions?\b(?! (?:tree|table))|\b(?:decided?|chosen?|choose|chose|settled?|agreed?)\b"
    r"|\bpolicy on\b|\btrade-?offs? (?:were|was|did|we)\b"
    r"|\b(?:alternatives|options) (?:did we|we|were|was)\b|\b(?:picked|approved|rejected)\b"
    r"|\bstory behind\b|\bsettle for\b"
)
DESIGN_ASKED: Final = lazy_pattern(
    r"^(?:give (?:me|us)|lay out|write up|draw up|work out|put together|have) an? (?:\w+ )?(?:design|architecture"
    r"|concept)\b"
    r"|^(?:i|we)(?:'d| would)? (?:like|want|need|love) an? (?:\w+ )?(?:proposal|design|plan"
    r"|architecture|concept|schema|sketch|outline) "
    r"|^(?:what|which|is there) (?:is |would be |are )?(?:an? |the )?(?:\w+ )?ways? to (?:model"
    r"|structure|design|organi[sz]e|represent|split|lay out|partition|architect|version|layer)\b"
    r"|^(?:could|can|should|would) (?:we|i|it) .*\b(?:instead of|rather than|get away with|be better off)\b|"
    r"^how (?:should|would|could|can|might|do) (?:we|i|you|one) (?:best )?(?:structure|design|model"
    r"|organi[sz]e|split|architect|approach|lay out|partition|divide|shape|layer)\b"
    r"|^how (?:should|would|could|can|might) (?:we|i|you|one) (?:best )?make .+ (?:extensible"
    r"|pluggable|scalable|modular|generic|configurable|reusable|resilient|portable|robust)\b"
    r"|^(?:would|might) (?:an?|the) .+ be (?:the |a )?(?:\w+ )?(?:choice|fit|idea|approach|solution|design|option)\b"
    r"|^(?:what|which) (?:data model|schema|pattern|architecture|data structure|abstraction|interface"
    r"|design) (?:would|should|could|suits?|fits?)\b"
    r"|^where should (?!i\b|we (?:begin|start)).+ (?:live|go|sit|belong|be put|be placed)\b"
    r"|\bwhat should (?:it|they|that|this) look like\b|\bhow would you (?:lay|design|structure|split"
    r"|build|approach|model)\b"
    r"|^should (?:we|i|the|it|this|our)\b.*(?:\bor\b|\bbe\b)"
    r"|^what (?:should|would|could) .*\blook like\b|^what (?:would|could|should) be (?:a"
    r"|the) (?:\w+ ){0,2}(?:architecture|design|structure|approach|schema|layout)\b"
    r"|^which (?:design |architecture )?(?:pattern|architecture|design|approach|structure) (?:fits"
    r"|should|would|is best|suits|makes)\b"
    r"|^come up with (?:a|an|some) (?:\w+ )?(?:design|architecture|schema|structure|concept|plan|proposal)\b"
    r"|^(?:think|work) (?:through|out) (?:a|the|how)\b"
)
RESEARCH_ASKED: Final = lazy_pattern(
    r"\bout there\b|\baccording to (?:others|the literature|benchmarks|users)\b|\bknown (?:exploits"
    r"|vulnerabilities|issues with|cves)\b|\bthese days\b"
    r"|^do an? (?:\w+ )?(?:comparison|survey|review|analysis|benchmark|study|evaluation)\b"
    r"|^how (?:good|mature|fast|reliable|popular|safe) is [\w.+-]+ (?:at|for|in|with|compared)\b|"
    r"^(?:look into|find out|dig into|read up|check (?:whether|if|out|which)|search (?:for|the web)"
    r"|see (?:whether|if|what) )"
    r"|\balternatives (?:to|for)\b|\bpros and cons\b|\bstate of the art\b|\bbest practices?\b"
    r"|\bis there an? (?:better|newer|faster|good|maintained) \w+"
    r"|^(?:which|what) (?:\w+ )?(?:libraries|packages|tools|frameworks|options|approaches|products"
    r"|solutions) (?:exist|are there|are available|would|could|support)\b"
    r"|\blook into (?:it|this|that)\b|^(?:is|has|does) (?:anybody|anyone|somebody"
    r"|someone)(?: else)? (?:using|used|tried|use)\b|\b(?:open[- ]source|free|commercial|existing"
    r"|better|maintained) alternatives?\b"
    r"|^(?:which|what) (?:[\w-]+ )?(?:crates|gems|libs|vendors|providers|engines|databases|services"
    r"|papers|standards|plugins) (?:do|does|can|are|handle|offer|have|support|would)\b"
    r"|^how (?:does|do) .+ compare (?:with|to|against)\b|\bhow (?:other|others|competing) "
    r"|^(?:what|how) do (?:other|competitors|others|similar|most)\b|\bdo(?:es)? (?:competitors"
    r"|other (?:projects|teams|companies))\b"
)
PLAIN_REFACTOR: Final = lazy_pattern(
    r"\bwithout (?:changing|altering|touching|breaking) (?:the |its |any )?(?:behaviou?r"
    r"|functionality|api|interface|semantics|results?)\b"
    r"|\b(?:more|easier to) (?:readable|modular|testable|maintainable|read|test|maintain"
    r"|understand)\b|\bdead code\b|\bduplicat(?:ion|ed code|e code)\b"
)
HARDLY: Final = 1.0
GENERAL_HEADS: Final = lazy_pattern(
    r"^what is (?:going on|happening|up|new) (?:with|in)\b|"
    r"^(?:tell (?:me|us) (?:more |something |all )?about|describe|explain|summari[sz]e|recap|continue"
    r"|go on|resume|what (?:do|should|must) (?:you|i|we) know"
    r"|help me understand|give me (?:some |a bit of )?(?:background|context|an idea)|anything"
    r"|what else|elaborate|understand)\b"
)
