"""The words and forms by which a text is told to be junk (`noise.junk_rule`). They know English."""

from __future__ import annotations

from typing import Final

from hexad.core.lazy import lazy_pattern
from hexad.text.search_terms import STOP_WORDS

TALK: Final = frozenset(
    (
        "hi hello hey hiya yo morning evening afternoon night good day dear thanks thank thx ty you your u so much very"
        " a lot many again all everyone everybody there ok okay k sure fine great perfect awesome cool nice excellent"
        " wonderful amazing lovely yes yeah yep no nope alright not right got it that that's this is sounds works for"
        " me welcome you're bye goodbye cheers see later soon have one please sorry lol haha hahaha hmm ah oh wow well"
        " done job problem worries np anytime i'm glad to help my pleasure the how are doing today going and too am i"
        " it's been talk weekend will do understood noted roger acknowledged absolutely definitely correct exactly"
        " agreed makes sense copy on go ahead continue proceed then worked loud clear congrats congratulations"
    ).split()
)
HOLLOW: Final = (
    TALK
    | STOP_WORDS
    | frozenset(
        "let's i've i'd i'll we've we'll it's that's there's what's don't didn't doesn't won't can't couldn't isn't"
        " wasn't aren't hmm mm uh um huh yup nah ready moving checking thing wait waiting back start started"
        " starting"
        " happy fair enough point roger ack lgtm pls yay oops ouch brb btw fyi tbh imo ah aha interesting indeed"
        " worries clear true false course glad proud best luck enjoy care safe bless cheers again more less help"
        " helped helping helps talking chatting answer answers question questions mind guess hope hoping"
        " feel feeling"
        " bit deeper dig digging dive diving closer quick quickly look looking looks".split()
    )
)
"""Words that say nothing by themselves: what has no other has nothing to say."""
HOLLOW_MOST: Final = 8

_WORK_THING: Final = (
    "agent subagent assistant user model tool tools command commands file files folder task tasks step steps change"
    " changes edit edits code test tests build builds script run runs job jobs process request requests session"
    " conversation output outputs result results response input memory memories context todo todos item items error"
    " errors warning warnings attempt work plan everything nothing state status operation operations action"
    " actions call"
    " calls checks check update updates version queue message messages turn summary list exit code project page read"
)
_WORK_DONE: Final = (
    "finished completed complete completes executed done successfully written updated created deleted removed"
    " saved stored loaded"
    " started ended stopped resumed restarted processed installed compiled built passed changed applied fixed edited"
    " modified added opened closed submitted sent received accepted rejected approved cancelled canceled interrupted"
    " acknowledged reviewed checked verified tested implemented refactored cleaned ran reading running finishing"
    " waiting awaiting pending idle retrying retry processing loading thinking working compacting summarizing"
    " summarising"
    " typing continuing succeeded failed continues resumes unchanged empty confirmed"
)
WORK_DONE: Final = frozenset(_WORK_DONE.split())
WORKING: Final = (
    HOLLOW
    | WORK_DONE
    | frozenset(_WORK_THING.split())
    | frozenset(
        "successfully success ok correctly previous last requested expected seconds second minutes minute ms"
        " checkpoint"
        " checkpoints one two three four five first next new current reviewing testing updating whole".split()
    )
)
STANDING: Final = frozenset(
    "idle pending unchanged empty complete completed done finished cancelled canceled approved rejected".split()
)
"""Of these, what `is` and `are` may go with; "results are stored in files" says how something works."""
"""Words in which an agent says how far it is, without saying with what."""
BINDING: Final = frozenset(
    "always never must should before after only unless if when because instead not without don't can't won't every"
    " first need needs why how than while takes take can could may will would".split()
)
"""Words that make a rule or a reason of the same words."""

MARKS: Final = frozenset(
    "hi hello hey hiya yo morning thanks thank thx ty ok okay sure great perfect awesome cool nice yes yeah yep no nope"
    " alright welcome bye goodbye cheers lol haha hahaha wow sorry excellent wonderful amazing lovely np anytime k fine"
    " understood noted roger acknowledged absolutely definitely agreed exactly congrats congratulations".split()
)

ASSENT: Final = lazy_pattern(
    r"(?i)^\W*(?:got it|will do|sounds good|makes sense|go (?:ahead|on)|see you|(?:talk"
    r"|see) (?:to )?(?:you )?(?:later|soon)"
    r"|good (?:job|work)|well done|all good|you're welcome|proceed|continue|correct|right)\b"
)
# What somebody is reported to have said, without a word of what it was about.
TALKER: Final = lazy_pattern(
    r"(?i)^(?:the )?(?:user|human|customer|assistant|agent|ai|bot|model|client)(?: has| have| just| then| also"
    r"| simply)*"
    r" (?:said|says|saying|greeted|greets|thanked|thanks|acknowledged|acknowledges|confirmed|confirms|agreed|agrees"
    r"|approved|rejected|accepted|interrupted|clicked|responded|responds|replied|replies|answered|answers|asked"
    r"|asks|sent|sends|wrote|writes|started|starts|began"
    r"|begins|ended|ends|left|joined|is|was|wants|wanted|needs|needed|expressed|expresses|apologi[sz]ed|introduced"
    r"|did|does|requested|requests|provided|offered|offers)\b"
)
TALKED: Final = TALK | frozenset(
    (
        "user user's human customer assistant assistant's agent ai bot model client question questions message"
        " messages conversation chat chatting session reply response responses greeting greetings gratitude"
        " appreciation acknowledgement confirmation approval something anything nothing some any other with"
        " back by in of his her their they he she positively politely briefly casually friendly polite"
        " said says saying greeted greets thanked acknowledges confirmed confirms agreed agrees responded responds"
        " replied replies answered answers asked asks sent sends wrote writes started starts began begins ended ends"
        " left joined was wants wanted needs needed expressed expresses apologized apologised introduced did does"
        " requested requests provided offered offers has just also simply help assistance support information"
        " clarification request requests command commands instruction instructions task prompt input system"
        " testing test"
        " whether works working memory plan screenshot image images file files button emoji link clicked"
        " approved rejected"
        " accepted interrupted clarification follow-up follow up general an at"
    ).split()
)

_LEAD: Final = (
    r"(?:(?:ok(?:ay)?|sure|great|perfect|alright|now|next|first|good|got it|understood|absolutely|excellent|done|right"
    r"|nice|so|and|well)[,.!:]?\s+)*(?:(?:now|next|first|then|finally),?\s+)?"
)
_DOING: Final = (
    r"check|look|read|search|run|examin|inspect|analy[sz]|review|explor|investigat|verify|open|fetch"
    r"|scan|debug|grep|compil|refactor"
)
_WORK: Final = (
    r"\b(?:files?|code|codebase|tests?|docs?|documentation|builds?|config\w*|functions?|class(?:es)?|modules?|scripts?"
    r"|repo\w*|tasks?|steps?|errors?|bugs?|logs?|outputs?|director(?:y|ies)|folders?|implement\w*|changes?|branch"
    r"|commits?|search\w*|results?|database|schema|plan|issues?|lines?|apis?|endpoints?|dependenc\w+|packages?|imports?"
    r"|it|this|that|them|these|those|what|how|if|whether|where|sure|todos?|requests?|your?|structure|details?|again|now"
    r"|next|fix\w*|sections?|pages?|quer(?:y|ies)|memor(?:y|ies)|components?|types?|methods?|data|information|project"
    r"|current|existing|necessary|relevant|following|linter|formatter|compiler|server|commands?|suite|pipeline|setup"
    r"|install\w*|app|services?|workflow|routes?|handlers?|parser|migrations?)\b"
)
"""What a plan is about that an agent makes for the next minute, and not a person for a life."""
ANNOUNCEMENT: Final = lazy_pattern(
    rf"(?i)^{_LEAD}(?:"
    r"i(?:'ll| will| am going to|'m going to|'m about to| am about to| shall| need to| want to| should)\s+"
    r"(?:now\s+|first\s+|also\s+|then\s+|next\s+|just\s+|quickly\s+)*"
    r"(?:(?:start|begin) (?:by|with)|take a|try to|"
    r"(?:check|look|read|search|run|examine|inspect|analy[sz]e|review|explore|see|verify|open|list|find|write|create"
    r"|update|fix|implement|add|continue|proceed|go|do|help|get|fetch|make|test|investigate|think|scan|debug|try)\b"
    rf"(?=.*{_WORK}))"
    r"|(?:please )?(?:let me|allow me to) (?:now |first |also |just |quickly )*"
    rf"(?:see|start|begin|try|take|get|find|list|think|fix|update|add|create|write|{_DOING})\w*\b"
    r"(?! (?:showed|shows|found|revealed)\b)"
    r"|let's (?:now |first |also |just )*(?:start|begin|check|look|see|take|run|try|go|do|move|continue)\b"
    rf"|i(?:'m| am) (?:now |currently )?(?:{_DOING})(?:n?ing|ing) \w+"
    r"|(?:checking|looking|reading|searching|running|scanning|analy[sz]ing|processing|thinking|investigating) "
    rf"(?:on|for|at|into|through|about|the|it|now|your|this)\b(?=.*{_WORK})(?!.*\b(?:is|are|was|were|means|takes"
    rf"|should)\b)"
    r"|(?:moving|going) on to\b|continuing (?:where|with|from|to|on)\b|proceeding (?:to|with)\b"
    r"|(?:now )?working on (?:it|this|that|the (?:next|first|task|fix|request))\b"
    r"|(?:starting|beginning|finishing|resuming)(?: work(?: on)?)? (?:task|step|phase|the (?:next|first|task|work"
    r"|build))\b"
    r"|(?:task|step|phase|part|item|batch)s? \d+(?: ?(?:/|of|out of) ?\d+)?\b[^.]{0,60}?"
    r"\b(?:complete|completed|done|finished|started|in progress|pending)\b"
    r"|\d+ ?(?:/|of|out of) ?\d+ (?:tasks?|steps?|files?|items?|tests?)?\s*(?:complete|completed|done|finished)\b"
    r"|(?:all )?(?:done|finished|complete|completed|ready)\b(?=\W*$)|(?:here|this) is (?:what|how) i(?:'ll| will)\b"
    r"|(?:please )?(?:one moment|just a moment|hold on|give me a (?:second|moment|minute)|please wait|bear with me)\b"
    r"|(?:that|it) worked\b(?=\W*$)|still (?:working|processing|running|thinking)\b(?=\W*$)"
    r"|(?:picking up|back to) (?:where|work)\b)"
)
OUTCOME: Final = lazy_pattern(
    r"(?i)\b(?:because|found|turns out|decided|must|never|always|so that|the (?:fix|cause|reason)|instead"
    r" of|fails?|failed|requires?|tomorrow|tonight|yesterday|autumn|spring|summer|winter|years?|months?"
    r"|(?:next|every|each|this|last|on|until|by|before|after|since) (?:week\w*|month\w*|year\w*|(?:mon|tues"
    r"|wednes|thurs"
    r"|fri|satur|sun)days?)|(?:mon|tues|wednes|thurs|fri|satur|sun)days?"
    r"|january|february|march|april|june|july|august|september|october|november|december|in may)\b|\b20\d\d\b"
)

BOILERPLATE: Final = lazy_pattern(
    r"(?i)^(?:as an ai(?: language)? (?:model|assistant)\b|i(?:'m| am) (?:just )?an ai\b"
    r"|(?:i(?:'m| am) )?(?:so |very |really |terribly )?(?:sorry|apologies|my apologies),? (?:but )?i "
    r"(?:can(?:'|no)?t|am unable|do not|don't|cannot)\b"
    r"|i(?: sincerely| do)? apologi[sz]e\b|(?:my |our )?(?:sincere )?apologies (?:for|about|again)\b"
    r"|(?:i(?:'m| am) )?(?:so |very |really )?sorry (?:about|for) (?:that|this|(?:the |any "
    r"|my )?(?:[\w-]+ )?(?:confusion"
    r"|mistakes?|delay|misunderstanding|errors?|inconvenience|oversight|trouble|wait|mix-?up|issues?))\b[^.]{0,60}$"
    r"|you(?:'re| are) (?:absolutely |completely |quite |so )?right\b[^.]{0,40}$|(?:that's |what )?a? ?great question\b"
    r"|(?:please )?(?:let me know (?:if|when|whether|what|how)|let me know\W*$|feel free to (?:ask|reach|let"
    r"|contact|share|message|explore)|don't hesitate"
    r"|if you (?:have|need) any(?:thing| (?:other|more|further))?)\b"
    r"|is there anything (?:else|more)\b|how (?:can|may|could) i (?:help|assist)\b|what (?:can|would) (?:i"
    r"|you) (?:help|like)\b"
    r"|i hope (?:this|that|it) helps\b|i(?:'m| am) (?:here|happy|glad|ready) to (?:help|assist)\b|happy to help\b"
    r"|i(?:'d| would) be (?:happy|glad) to (?:help|assist)\b|certainly!?$|of course!?$"
    r"|i (?:do not|don't) (?:actually |currently )?have (?:any |the )?(?:memory|memories|access|recollection|ability"
    r"|information|real[- ]time|previous|prior|context)\b[^.]{0,60}(?:previous|prior|past|earlier|real[- ]time|current"
    r"|conversations?|this session|personal|browse|internet|about that)\b[^.]{0,40}$"
    r"|(?:please )?(?:do not|don't) respond to (?:this|these) messages?\b|caveat: the messages below\b"
    r"|this (?:is an automated|message was (?:sent )?automatically)\b|please (?:do not|don't) reply to this\b)"
)
PROMPT: Final = lazy_pattern(
    r"(?i)^(?:(?:system|assistant|developer)(?: prompt| message)?\s*:\s*)?(?:you are|you're|act as|your role is)\s+"
    r"(?:(?:now\s+)?[\w .-]{2,30},\s+)?an?\s+(?:[\w'-]+,?\s+){0,5}?"
    r"(?:assistant|language model|chatbot|ai(?: agent| model)?|agent (?:that|who|for|designed)|expert (?:in|at|on))\b"
)
WRAPPED: Final = lazy_pattern(
    r"(?is)^<(system[-_]reminder|system|instructions|function_calls?|invoke|tool_(?:call|use|result|calls|response)"
    r"|function_results?|local-command-\w+|command-\w+|thinking|scratchpad|environment_details)\b[^>]*>.*</\1>$"
)

# What a tool was called with or answered, sentence by sentence.
_PATH: Final = r"[`'\"]?(?:[\w.@~-]*/)*[\w@~-]*\.?[\w-]+[`'\"]?"
_ACTED: Final = (
    r"(?:updated|created|modified|deleted|saved|edited|written|removed|added|stored|renamed|moved|overwritten|loaded"
    r"|uploaded|downloaded|recorded|cleared|changed)"
)
TOOL: Final = lazy_pattern(
    rf"(?i)^(?:\[?(?:tool|function)[ _-]?(?:use|call|result|output|response|name|id)?s?\b\]?\s*(?::|\]|$).{{0,200}}"
    r"|\[(?:tool|function|bash|read|write|edit|grep|glob|search|assistant|user|system)[_ :-][^\]]{0,80}\]"
    r"(?:\s*(?:ok|done|success|failed|error)?\W*)"
    r"|(?:ran|running|executed|executing|invoked|called|calling) (?:the )?(?:(?:bash|shell|terminal) )?"
    r"(?:command|tool|function|bash|shell|script)s?\b(?::|\s).{0,200}"
    r"|(?:bash|read|write|edit|grep|glob|websearch|webfetch|multiedit|ls|task|todowrite)\(.{0,200}\)"
    rf"|(?:read|reading|wrote|writing|edited|editing|created|updated|modified|deleted|opened|viewed|viewing|listed"
    rf"|searched|searching|loaded) (?:the )?(?:files? |director(?:y|ies) |folder |contents of )?{_PATH}"
    r"(?: ?\((?:lines? )?[\d ,:-]+(?:lines?|bytes)?\))?"
    rf"|(?:the )?(?:file|folder|directory)s? \S+ (?:has|have|was|were)(?: been)? {_ACTED}(?: successfully)?"
    rf"|(?:(?:the|your|all) )?(?:todos?(?: list)?|files?|changes?|memor(?:y|ies)|entr(?:y|ies)|records?|data|settings"
    rf"|notes?|items?)(?: (?:has|have|was|were))?(?: been)? {_ACTED} successfully\b.{{0,120}}"
    rf"|success(?:fully|:)? {_ACTED}(?: (?:the )?(?:file|folder|memory|entry|record)s?)?(?: {_PATH})?"
    r"|(?:the )?(?:command|process|script|program|job|task|shell) (?:exited|finished|completed|ended|terminated"
    r"|succeeded)"
    r"(?: successfully)?(?: with)?(?: (?:exit )?(?:code|status))?:? ?\d*(?: \(no output\))?"
    r"|(?:exit|return|status) ?(?:code|status)? ?[:=]? ?-?\d+|\(no (?:output|content|results?|response|data"
    r"|messages?)\)"
    r"|no output|(?:found|returned|showing|matched|read|wrote) \d+ (?:results?|match(?:es)?|files?|lines?|items?|rows?"
    r"|bytes|entries)|(?:stdout|stderr|output|result|response)\s*:\s*(?:ok|none|null|success|true|empty|\{\}|\[\])?"
    r"|ensure that you continue to use the todo list\b.{0,120})\W*$"
)
TOOL_KEYS: Final = frozenset(
    "tool tool_name tool_use_id tool_call_id tool_calls function function_call arguments args tool_input".split()
)

NOTHING: Final = lazy_pattern(
    r"(?i)^(?:sorry,? )?(?:no|nothing|none|there(?:'s| is| was| are| were) (?:no|nothing|not|none)|i (?:did not|didn't"
    r"|do not|don't|could not|couldn't|found no|see no) ?|(?:could not|couldn't|did not|didn't) find"
    r"|unable to find|found"
    r" (?:no|nothing)|zero|not (?:found|available|applicable|specified|provided|mentioned|enough|sure)"
    r"|(?:the|this) (?:conversation|message|session|text|chat|exchange|input|user)[^.]{0,30}"
    r"\b(?:no|not|nothing|doesn't|didn't|lacks)\b)"
)
EMPTY: Final = frozenset(
    (
        "no nothing none not there is was are were be been i did didn't do don't could couldn't find found zero sorry"
        " the this that these any in on of to from for about at with yet here so far and or it its a an has have had"
        " does doesn't contain contains contained containing include includes included lacks provide provides provided"
        " giving given available applicable specified mentioned mention enough sure shared share discussed stored store"
        " save saved remember remembered extract extracted note noted notable noteworthy report reported record"
        " recorded add added update updates updated detected identified seen see worth worthwhile keep keeping"
        " needed required"
        " necessary necessitate relevant new additional further significant important specific other useful meaningful"
        " personal long-term long term lasting durable memorable matching similar existing previous prior past unable"
        " information info memory memories fact facts detail details content contents data result results match matches"
        " preference preferences entry entries item items change changes conversation conversations session sessions"
        " message messages text chat exchange input user user's users query request search question questions response"
        " context history knowledge action actions output outputs errors error issues issue warnings special particular"
        " learned learn anything something else everything value values time moment currently present today"
    ).split()
)

TEST_MARKS: Final = frozenset(
    "test tests testing dummy sample placeholder example foo bar baz foobar mock fixture lorem asdf qwerty xyz abc"
    " blah".split()
)
TEST_WORDS: Final = TEST_MARKS | frozenset(
    (
        "a an the this is just for my your of and with in to from memory memories entry entries note notes message"
        " messages data item items text string record records content user users name value integration unit e2e smoke"
        " run number one two three four please ignore only first second third new old temp temporary tmp case suite id"
        " some more another here if whether works working that system saving storing recall 123 hello world"
        " delete me later do not use purposes purpose it was written as"
    ).split()
)
BLANKS: Final = lazy_pattern(
    r"(?i)(?:\[|<|\{\{?)\s*(?:insert|your|user(?:'s)?|enter|add|name|city|date|placeholder|todo|tbd|topic|company"
    r"|first name|last name|value|text|project|number|fill)\b[^\]>}\n]{0,40}(?:\]|>|\}\}?)"
)
TEST: Final = lazy_pattern(
    r"(?i)^\W*(?:(?:asdf|qwerty|lorem ipsum|abc|xyz|123|blah)\b.*|todo|tbd|tba|fixme|n/?a|none|null|undefined|nan|nil"
    r"|empty|unknown|hello,? world|foo(?:[ ,]*ba[rz])*|<[a-z _-]{1,40}>|\{\{?[\w .-]{1,40}\}\}?)\W*$"
)
HEARTBEAT: Final = lazy_pattern(
    r"(?i)^\W*(?:heartbeat(?:[_ ]ok)?|no[_ ]reply|ping|pong|still (?:alive|running|here)"
    r"|nothing (?:new )?to (?:report|do)"
    r"|no (?:new )?(?:changes?|updates?|messages?|tasks?)(?: (?:found|detected|since last (?:run|check)))?"
    r"|(?:cron|scheduled|background|periodic|health|heartbeat)[ -](?:job|task|check|run)\b.{0,80}\b(?:ok|completed"
    r"|succeeded|ran|passed|executed|finished|healthy)(?: (?:successfully|at [\d:. -]+|in [\d.]+ ?m?s))*"
    r"|(?:all )?(?:systems?|services?|checks?)(?: are| is)? (?:ok|operational|nominal|healthy|green|passed)"
    r"|status:? (?:ok|idle|running|alive))\W*$"
)

# What stands on every page.
FURNITURE: Final = lazy_pattern(
    r"(?i)^(?:(?:we|this (?:web)?site|our (?:web)?site"
    r"|we and our partners)[^.]{0,60}\buses?\b[^.]{0,40}\bcookies\b[^.]*"
    r"\b(?:experience|personali[sz]e|traffic|ads|advertis\w+|preferences|consent|functionality|best)\b"
    r"|by (?:continuing|using|clicking|browsing)\b[^.]{0,120}\b(?:cookies?|terms|policy|agree|accept|consent)\b"
    r"|accept (?:all(?: cookies)?|cookies|and close)$|(?:manage|reject) (?:all )?(?:cookies|preferences|consent)$"
    r"|(?:\u00a9|\(c\)|copyright \u00a9|copyright \(c\))\s*\d{4}|(?:copyright\b.{0,80})?all rights reserved"
    r"|(?:please |you need to )?enable javascript\b|javascript (?:is|must be) (?:disabled|required)"
    r"|(?:please )?(?:upgrade|"
    r"update) your browser|your browser (?:is not|isn't|does not|doesn't)\b|checking your browser\b"
    r"|verify(?:ing)? (?:that )?you"
    r" are (?:a )?human|(?:\d{3} )?(?:page )?not found$|(?:403 )?forbidden$|access denied$|loading\b\W*$"
    r"|(?:subscribe|sign up) (?:to|for) (?:our|the) (?:newsletter|mailing)|click (?:here|below|the (?:link"
    r"|button)(?: below)?)(?: (?:to|for|and|if)\b|$)"
    r"|skip to (?:main )?(?:content|navigation)|follow us on\b|share (?:this|on)\b.{0,60}$|advertisement$)"
)
PAGE_WORDS: Final = frozenset(
    (
        "home about us contact sign in out log login logout up register subscribe privacy policy terms of use service"
        " services skip to main content menu search cookie cookies settings accept all reject share follow newsletter"
        " careers jobs blog news help faq sitemap back top next previous read more load close cart account my the and"
        " products product pricing docs documentation support community legal press navigation toggle english language"
        " facebook twitter linkedin instagram youtube github rss advertise advertisement"
    ).split()
)
PAGE_LEAST: Final = 4

# Data without a word: times, ids, bars, encoded bytes.
CLOCK: Final = lazy_pattern(
    r"(?i)^\W*(?:(?:the )?(?:current |local |utc |today's |last )?(?:date|time|timestamp|datetime|today|now"
    r"|updated|seen)"
    r"(?: and time)?(?: is)?|(?:new |chat |user )?(?:session|conversation|chat|run|job)(?: (?:id )?[\w-]*\d[\w-]*)?"
    r"(?: (?:was |has )?(?:started|began|begun|ended|closed|opened|resumed|finished|id))?(?: (?:at|on|from))?"
    r"|(?:request|trace|message|task|user|tool|build|commit)[ _-]id)?[\s:=#]*"
    r"(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*,?\s*|(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?\s*"
    r"|(?=\w*\d)[\da-f]{6,64}\b|[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}|(?:mem|msg|req|call|toolu|run"
    r"|sess|session|chatcmpl|task)[_-][\w-]{4,80}|[\d.,:/+-]+(?:st|nd|rd|th)?|[tz]\b|t(?=\d)|utc|gmt|am|pm|[ce]e?s?t\b"
    r"|\s|(?:started|ended|closed|finished)\b)*\W*$"
)
MOMENT: Final = lazy_pattern(
    r"(?i)\b\d{4}-\d\d|\d:\d\d|^\W*1\d{9}(?:\d{3})?\W*$|^\W*[\da-f]{12,64}\W*$|[\da-f]{8}-[\da-f]{4}-"
    r"|\b[a-z]+[_-]\w*\d|\b(?:session|conversation|chat|run|job|date|time|id)\b"
)
"""What a number has to be, that alone says nothing to anybody."""
ENCODED: Final = lazy_pattern(r"^(?:data:[\w/+.-]+;base64,)?[A-Za-z0-9+/_-]{48,}={0,2}$")
BAR: Final = lazy_pattern(
    r"[\u2588-\u258f\u2591-\u2593#=>\u2501\u2500\u25a0\u25a1\u25cf\u25cb]{3,}|\b\d+(?:\.\d+)?(?:it|[kKMG]i?B)/s"
)
BAR_WORDS: Final = 4
LISTED: Final = lazy_pattern(
    r"^(?:total \d+|[dlcbps-][rwxsStT-]{9}[.+@]?\s.+|[\u2502\u251c\u2514\u2500| `+\\-]*(?:\u251c|\u2514|\u2502"
    r"|\|--|`--|\+--).*"
    r"|(?:[\w.@~+-]*/)*[\w@~+-]*(?:\.[\w-]{1,10}|/)|\.{1,2}/?|\d+ director(?:y|ies), \d+ files?|[\w.@~-]+/?:?)$"
)
FILE_NAME: Final = lazy_pattern(r"(?:^|/)[\w@~+-]*\.\w{1,10}$|/$|^[dlcbps-][rwxsStT-]{9}|\u251c|\u2514|--")
PROGRAM_LINE: Final = lazy_pattern(
    r"(?i)^(?:(?:added|removed|changed|audited) \d+ packages?\b.*|up to date, audited\b.*|found \d+ vulnerabilit\w+.*"
    r"|run `npm (?:fund|audit).*|successfully installed \S+-\d.*|requirement already satisfied:.*"
    r"|collecting [\w.\[\]-]+(?:[=<>~!(].*)?|(?:using cached|downloading) \S+(?:\.(?:whl|tar\.gz|zip)|://).*"
    r"|installing collected packages:.*|building wheels?\b.*|=+ .{0,120} =+|\d+ (?:passed|failed|skipped)\b.{0,80}\bin"
    r" [\d.]+ ?m?s.*|(?:ok|pass|fail|---|===)\s+\S+.{0,80}\b[\d.]+m?s\)?|(?:get|hit|ign):\d+ https?:.*"
    r"|cloning into '.*|remote: (?:counting|compressing|total|enumerating|resolving)\b.*|(?:receiving|compressing"
    r"|unpacking"
    r"|writing|counting|enumerating) objects:.*|resolving deltas:.*|(?:compiling|downloaded|checking) \S+ v\d+\.\d+.*"
    r"|finished `?(?:dev|release|test).*target.*|make(?:\[\d+\]: .*|: \*\*\* .*)|(?:create|delete) mode \d+ .*"
    r"|\[\S+(?: \(root-commit\))? [\da-f]{7,40}\] .*|\d+ files? changed, \d+ .*)$"
)
MARKUP: Final = lazy_pattern(
    r"(?is)<(?:script|style)\b.*?</(?:script|style)\s*>|<!--.*?-->|</?[a-z!][^<>]{0,2000}>|&\w{2,8};"
)
