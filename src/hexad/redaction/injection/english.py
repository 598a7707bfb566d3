"""What a text says in English that speaks to a model instead of to a reader."""

from __future__ import annotations

from typing import Final

from hexad.redaction.injection.shapes import GAP, one_of, rule_of, some

_IGNORE: Final = (
    "ignore disregard forget override bypass discard neglect overlook overrule cancel void nullify aside"
)
_RULES: Final = (
    "instruction instructions prompt prompts rules guidelines directions directives directive commands guidance"
    " constraints"
    " restrictions programming safeguards guardrails orders training"
)
_EARLIER: Final = (
    "previous prior above earlier preceding your existing former initial original safety system past those"
    " these developer"
    " current"
)
_SECRETS: Final = (
    "credentials credential passwords password secrets secret tokens token keys key env data history conversation"
    " conversations cookies files records variables contacts emails documents prompt instructions"
)
_APPROVAL: Final = (
    "confirmation approval review verification consent permission asking confirming authorization checking operator"
    " oversight validation approvals checks check confirmations"
)

_ANY: Final = "all any every your everything other"
_TOLD_RULES: Final = (
    "instructions instruction prompt prompts directives directive guardrails safeguards programming guidance"
)

ENGLISH: Final = (
    rule_of(
        "override",
        (_IGNORE, _RULES),
        # "All rules" alone is what linters are told; all that came before, or that a model was given, is not.
        rf"\b(?:{one_of(_IGNORE)}|(?:set|put|leave|lay) aside)(?:{GAP}[^\W_]+){{0,4}}?{GAP}(?:{one_of(_EARLIER)}"
        rf"(?:{GAP}[^\W_]+){{0,3}}?{GAP}{one_of(_RULES)}"
        rf"|{one_of(_ANY)}(?:{GAP}[^\W_]+){{0,2}}?{GAP}{one_of(_TOLD_RULES)})\b",
    ),
    rule_of(
        "override",
        (_IGNORE, _RULES, "given set provided imposed configured"),
        rf"\b{one_of(_IGNORE)}(?:{GAP}[^\W_]+){{0,3}}?{GAP}{one_of(_RULES)}{GAP}(?:that{GAP})?(?:(?:were|was"
        rf"|are|is){GAP})?"
        r"(?:given|set|provided|imposed|configured)\W{1,40}(?:by|for|to|from)\b",
    ),
    rule_of(
        "override",
        ("you operator developer owner", "instructed told asked ordered configured given taught"),
        rf"\b{one_of(_IGNORE)}{GAP}(?:what|whatever|everything"
        rf"|anything)(?:{GAP}[^\W_]+){{0,4}}?{GAP}(?:instructed|told|asked|ordered"
        rf"|configured|given|taught)\b|\b(?:what|whatever|everything|anything) you (?:were|have"
        rf" been)(?:{GAP}[^\W_]+){{0,2}}?{GAP}(?:instructed"
        rf"|told|asked|ordered|given|taught)(?:{GAP}[^\W_]+){{0,3}}?{GAP}(?:is|are) (?:now )?(?:cancelled"
        rf"|canceled|void|revoked|obsolete)\b",
    ),
    rule_of(
        "role",
        (
            "you",
            "no longer",
            "policy policies restrictions limits limitations rules guidelines filter filters",
        ),
        rf"\byou{GAP}(?:no longer have|do not have|have no)(?:{GAP}[^\W_]+){{0,2}}?{GAP}(?:polic(?:y|ies)"
        rf"|restrictions|limits|limitations|rules"
        r"|guidelines|filters?)\b",
    ),
    rule_of(
        "override",
        ("sole only true real new", "purpose goal mission task job objective"),
        r"\byour (?:sole|only|true|real|new)(?: \w+)? (?:purpose|goal|mission|task|job|objective) is (?:now )?to\b",
    ),
    rule_of(
        "promotion",
        (
            "store save keep remember memorize memorise",
            "permanently forever permanent",
            "this following that",
        ),
        r"\b(?:store|save|keep|remember|memori[sz]e) (?:this|the following|that)(?: \w+){0,2} (?:permanently"
        r"|forever|permanent memory)\s{0,3}:",
    ),
    rule_of(
        "autonomy",
        (
            "consented approved agreed confirmed authorized authorised",
            "already",
            "so therefore hence thus execute proceed",
        ),
        r"\b(?:user|operator|owner|human) has already (?:consented|approved|agreed|confirmed"
        r"|authori[sz]ed)\b[^.\n]{0,20}\b(?:so|therefore|hence|thus)\b",
    ),
    rule_of(
        "covert",
        (
            "quietly silently",
            "recipient account address invoice payment invoices payments transfer",
            "change replace redirect alter swap send forward",
        ),
        r"\b(?:quietly|silently) (?:change|replace|redirect|alter|swap|send"
        r"|forward)\b[^.\n]{0,40}\b(?:recipient|account|address|invoices?|payments?|transfer)\b",
    ),
    rule_of(
        "override",
        (_IGNORE, "above before told said learned know"),
        rf"\b{one_of(_IGNORE)}{GAP}(?:everything|all|anything|whatever)(?:{GAP}[^\W_]+){{0,5}}?{GAP}"
        # Who teaches a subject says so of it, too; a model's rules are another thing.
        rf"(?:above|before|told|said|(?:learned|know)(?!{GAP}(?:about|of|on){GAP}(?!(?:(?:the|all|any|how){GAP})?"
        rf"(?:you|your|yourself|being|previous|prior|system|safety|content|openai|anthropic|{one_of(_RULES)})\b)))\b",
    ),
    rule_of(
        "override",
        ("follow obey comply listen adhere following obeying complying listening adhering", _RULES),
        rf"\b(?:stop|no longer|do not|don.?t|never){GAP}(?:follow|obey|comply|listen|adhere)(?:ing)?"
        rf"{some(0, 3)}(?:previous|prior|earlier|above|your|original|system|those){some(0, 2)}{one_of(_RULES)}\b",
        spoken=False,
    ),
    rule_of(
        "override",
        (_RULES, "longer void cancelled canceled revoked obsolete null invalid suspended"),
        rf"\b(?:(?:previous|prior|earlier|original|system|your|above|former){GAP}"
        rf"(?:[^\W_]+{GAP}){{0,2}}?{one_of(_RULES)}"
        rf"|{one_of(_RULES)}{GAP}(?:above|before this|given (?:earlier|before)|you (?:have|were given|received)))"
        rf"(?:{GAP}[^\W_]+){{0,2}}?{GAP}(?:no longer (?:apply|applies|count|hold|bind)|(?:are|is) (?:now )?"
        rf"(?:void|cancelled|canceled"
        r"|revoked|obsolete|null|invalid|suspended))\b",
    ),
    rule_of(
        "override",
        ("new updated real actual following", "instructions task directive objective goal orders"),
        rf"\b(?:your|here are(?: your)?|these are your){GAP}(?:new|updated|real|actual){GAP}"
        r"(?:instructions?|task|directives?|objective|goal|orders)\b|\bnew (?:system )?(?:instructions?"
        r"|directives?) ?:",
    ),
    rule_of(
        "override",
        ("now onwards onward forward", "you always must never assistant"),
        r"\bfrom (?:now on|this point (?:on|forward)|now onwards?|here on)\W{1,40}"
        r"(?:you(?!(?:\W+(?:are|.?re))\W+(?:ready|able|all set|set up|done|connected)\b"
        r"|\W+(?:can|could|may)\W+"
        r"(?:also\W+|just\W+)?(?:use|run|see|find|deploy|start|call|build|open|view|install|import|add|edit)\b"
        r"|\W+(?:do not|don.?t|no longer|won.?t) (?:need|have) to\b)|the assistant|always|never|every)\b",
    ),
    rule_of(
        "override",
        (
            "precedence priority supersede supersedes override overrides replace replaces",
            _RULES + " instruction",
        ),
        r"\b(?:take|takes|has|have) (?:precedence|priority) over (?:\w+ ){0,3}(?:system|previous|prior|earlier"
        r"|all|other|your)"
        rf" (?:\w+ ){{0,2}}{one_of(_RULES)}\b|\b(?:this|these|the following)(?: \w+){{0,3}} (?:overrides?"
        rf"|supersedes?|replaces?)"
        rf" (?:\w+ ){{0,2}}(?:previous|prior|earlier|your|system|all)(?: \w+){{0,2}} {one_of(_RULES)}\b",
    ),
    rule_of(
        "role",
        ("now", "you are"),
        r"\byou(?: are|.re) (?:now|no longer|from now on)\W{1,40}(?:(?:an?|the|my|in|called|acting as|operating"
        r" as)\W{1,8}(?:\w{1,40}\W{1,8}){0,3}?"
        r"(?:ai|assistant|model|bot|agent|hacker|admin\w*|root|superuser|dan|unrestricted|evil|pirate|persona"
        r"|character|mode|system|without|slave|oracle)\b"
        r"|dan\b|free\b|freed\b|bound\b|unrestricted\b|uncensored\b|root\b|admin(?:istrator)?\W{0,3}(?:$|[.!]))",
    ),
    rule_of(
        "role",
        (
            "act behave pretend roleplay respond operate",
            "admin administrator root superuser unrestricted"
            " jailbroken evil"
            " uncensored unfiltered hacker dan developer system restrictions rules limits limitations filter filters",
        ),
        r"\b(?:act|behave|roleplay|respond|operate|pretend(?: to be)?|pretend (?:that )?you(?:.re| are))\W{1,40}"
        r"(?:as|like|to be)?\W{0,40}"
        r"(?:if you (?:are|were|had)\W{1,40})?(?:\w+\W{1,40}){0,4}?(?:(?:admin(?:istrator)?|root|superuser)"
        r"(?!\W+(?:user\W+)?"
        # Who runs a command on a machine is told to do so as its administrator.
        r"to\W+(?:install|uninstall|run|start|stop|restart|set up|configure|update|upgrade|mount|open|build|use"
        r"|change|edit|create|add|remove|register|apply)\b)|unrestricted|jailbroken|evil"
        r"|uncensored|unfiltered|hacker|dan|developer mode|no (?:restrictions|rules|limits|limitations|filters?))\b",
    ),
    rule_of(
        "role",
        ("mode", "developer god debug jailbreak dan unrestricted admin maintenance sudo root"),
        r"\b(?:enter|enable|activate|switch (?:in)?to|you are (?:now )?in)\W{1,40}(?:\w+\W{1,40}){0,2}?(?:developer|god"
        r"|jailbreak|dan|unrestricted"
        r"|sudo|unfiltered) mode\b",
    ),
    rule_of("role", ("anything", "now", "do"), r"\bdo anything now\b"),
    rule_of(
        "role",
        (
            "guidelines restrictions limits limitations filters constraints policies safeguards guardrails rules",
            "no without free freed unrestricted beyond",
        ),
        r"\b(?:with(?:out| no)|ha(?:s|ve) no|freed? from(?: all)?|no longer (?:bound|limited|restricted) by)\W{1,40}"
        r"(?:\w+\W{1,40}){0,2}?(?:safety"
        r"|ethical|content|moral|any|all|usual|security|openai|anthropic)\W{1,40}(?:\w+\W{1,40}){0,1}?(?:guidelines"
        r"|restrictions|limits|limitations"
        r"|filters|constraints|polic(?:y|ies)|safeguards|guardrails|rules)\b|\bfreed? from all (?:limitations"
        r"|restrictions|rules)\b",
    ),
    rule_of(
        "role",
        ("unrestricted uncensored unfiltered jailbroken", "ai assistant model agent llm"),
        r"\byou(?:.re| are)\W{1,40}(?:\w+\W{1,40}){0,2}?(?:unrestricted|uncensored|unfiltered|jailbroken)\W{1,40}"
        r"(?:\w+\W{1,40}){0,1}?(?:ai|assistant|model|agent|llm)\b",
    ),
    rule_of(
        "exfiltration",
        (
            "reveal print show output repeat display leak disclose expose tell dump give recite share copy send"
            " paste summarize",
            "prompt instructions rules",
        ),
        rf"\b(?:reveal|print|show|output|repeat|display|leak|disclose|expose|tell|dump|give|recite|share|copy"
        rf"|send|paste|summarize)"
        rf"{some(0, 4)}(?:system|hidden|initial|original|secret|developer|internal){GAP}(?:prompt"
        rf"|instructions?|rules)\b",
    ),
    rule_of(
        "exfiltration",
        (
            "send post forward upload email mail exfiltrate transmit leak submit deliver copy append include exfil"
            " share ship",
            _SECRETS,
        ),
        rf"\b(?:send|post|forward|upload|e?mail|exfiltrate|transmit|leak|submit|deliver|copy|append|include"
        rf"|share|ship)(?:{GAP}[^\W_]+){{0,10}}?"
        rf"{GAP}{one_of(_SECRETS)}(?:{GAP}[^\W_]+){{0,6}}?\W{{1,40}}(?:to|via|at|in|into|using)\W{{1,40}}"
        rf"(?:[^\W_]+\W{{1,40}}){{0,3}}?(?:https?://|hxxps?|ftp://"
        r"|[\w.+-]+@[\w-]+\.|attacker|webhook|evil|external (?:server|host|address|url)|this (?:url|address"
        r"|endpoint|server))",
    ),
    rule_of(
        "exfiltration",
        (
            "reveal leak exfiltrate disclose expose dump steal harvest",
            "credentials passwords secrets tokens keys data",
        ),
        rf"\b(?:reveal|leak|exfiltrate|disclose|expose|dump|steal|harvest){some(0, 3)}(?:all|every|any|stored"
        rf"|user|users|your|private|saved){some(0, 3)}"
        r"(?:credentials|passwords|secrets|(?:api |private )?keys|tokens|(?:user |customer |personal )?data)\b",
    ),
    rule_of(
        "promotion",
        (
            "remember save store treat record keep persist add note consider accept register memorize memorise"
            " regard adopt interpret",
            "directive instruction instructions directives rule rules policy command order orders override mandate",
            "system standing permanent"
            " durable global core persistent binding mandatory top highest priority operating overriding",
        ),
        rf"\b(?:remember|save|store|treat|record|keep|persist|add|note|consider|accept|register|memori[sz]e"
        rf"|regard|adopt|interpret)(?:{GAP}[^\W_]+){{0,8}}?"
        rf"{GAP}(?:as|to|into|in|among)(?:{GAP}[^\W_]+){{0,4}}?{GAP}(?:system(?!-)|standing|permanent"
        rf"|durable|global(?!-)|core|persistent|binding|mandatory|top"
        rf"|highest|operating|overriding)(?:{GAP}[^\W_]+){{0,2}}?{GAP}(?:directives?|instructions?|rules?"
        rf"|policy|commands?|orders?|override|mandate)\b",
    ),
    rule_of(
        "autonomy",
        (
            "approve authorize execute transfer delete send grant allow accept pay release wire install run export"
            " share merge forward perform complete",
            _APPROVAL,
            "without never bypassing skipping no",
        ),
        rf"(?:^|[.:;!?\]\n,]|\b(?:and|then|always|please|must|should|to|automatically)\b)\W{{0,40}}(?:approve"
        rf"|authorize|execute|transfer|delete|send|grant|allow"
        rf"|accept|pay|release|wire|export|forward|perform)(?:{GAP}[^\W_]+){{0,9}}?{GAP}(?:without|bypassing"
        rf"|skipping|with no)(?:{GAP}[^\W_]+){{0,3}}?{GAP}"
        rf"{one_of(_APPROVAL)}\b",
    ),
    rule_of(
        "autonomy",
        ("skip bypass disable omit ignore circumvent evade", _APPROVAL + " filter filters controls"),
        rf"(?:^|[.:;!?\]\n,]|\b(?:and|then|always|please|must|you (?:can|may|should))\b)\W{{0,40}}(?:skip|bypass"
        rf"|disable|omit|ignore|circumvent|evade)"
        rf"(?:{GAP}(?:the|all|any|every|each|user|human))*{GAP}(?:operator|user|human|security|safety"
        rf"|authorization|permission|approval|manual|content)"
        rf"(?:{GAP}[^\W_]+){{0,1}}?{GAP}(?:confirmations?|checks?|reviews?|verification|approvals?|filters?"
        rf"|controls?|validation|oversight)\b",
    ),
    rule_of(
        "autonomy",
        (
            "never not don stop",
            "ask request require seek wait",
            "confirmation approval permission consent authorization",
        ),
        rf"\b(?:never|do not|don.?t|stop|no need to){GAP}(?:ask|request|requir|seek|wait)(?:e|ing)?"
        rf"(?:{GAP}[^\W_]+){{0,4}}?{GAP}(?:for{GAP})?"
        rf"(?:[^\W_]+{GAP}){{0,1}}?(?:confirmation|approval|permission|consent|authorization)\b",
        spoken=False,
    ),
    rule_of(
        "privilege",
        (
            "assistant agent you model bot requester",
            "admin administrator root unrestricted superuser",
            "access rights privileges permissions permission control",
        ),
        r"\b(?:assistant|agent|you|model|bot|requester)(?: now| already|,)? (?:has|have|is|are)(?: \w+){0,2} "
        r"(?:admin(?:istrator)?|root|unrestricted|superuser)"
        r"(?: \w+){0,1} (?:access|rights|privileges|permissions?|control)\b",
    ),
    rule_of(
        "covert",
        (
            "not never don without",
            "user operator human anyone users",
            "tell mention inform alert notify telling"
            " informing notifying alerting warn"
            " disclose knowing knowledge reveal",
        ),
        r"\b(?:do not|don.?t|never) (?:tell|mention|inform|alert|notify|warn|disclose|reveal)(?: \w+){0,3}?(?:"
        r" to)? (?:the )?(?:user|operator|human|anyone)s?\b"
        r"|\bwithout (?:telling|informing|notifying|alerting) the (?:user|operator|human)\b|\bwithout the "
        r"(?:user|operator)(?:.s)? (?:knowing|knowledge)\b",
        spoken=False,
    ),
    rule_of(
        "covert",
        (
            "secretly covertly discreetly surreptitiously",
            "send add forward include execute copy"
            " upload append install run call insert transmit"
            " recommend email transfer",
        ),
        r"\b(?:secretly|covertly|discreetly|surreptitiously) (?:send|add|forward|include|execute|copy|upload"
        r"|append|install|run|call|insert|transmit"
        r"|recommend|email|transfer)\b",
    ),
    rule_of(
        "trigger",
        (
            "when whenever if",
            "asks mentions says requests asked",
            "always instead secretly must reply respond recommend execute send never",
        ),
        r"\b(?:when(?:ever)?|if|next time|every time) (?:the |a |any )?(?:user|operator|human|someone|anyone"
        r"|customer)s? (?:asks?|mentions?|says?|requests?|asked)"
        r"[^.\n]{0,80}?[,;]? (?:you (?:must|should|will)|always|secretly|instead (?:reply|respond|say|recommend"
        r"|send|run|execute)|never (?:mention|tell|say))\b",
    ),
    rule_of(
        "addressed",
        (
            "ai assistant llm model agent chatbot assistants agents models llms ais",
            "note message attention"
            " instructions instruction"
            " important notice reminder warning dear reading processing summarizing ignore reveal must always send",
        ),
        r"(?:^|[\n>!(*#-]\s{0,8})(?:dear |hey |hello )?(?:ai|llm|language model)[ -](?:agents?|assistants?"
        r"|models?|bots?)\s{0,3}[:,]"
        r"|\b(?:note|message|attention|instructions?|important|notice|reminder) (?:to|for) (?:the |any |all )?"
        r"(?:ai|assistant|llm|language model|ai agent"
        r"|ai assistant|ai model|chatbot)s?\b(?=[^.\n]{0,60}[:,!])|\battention,? (?:ai|assistant|llm|language"
        r" model)s?\b"
        r"|\bif you are an? (?:ai|llm|language model|assistant|ai agent|automated agent)\b[^.\n]{0,40}"
        r"(?:reading|processing|summari[sz]ing|parsing|,)",
    ),
    rule_of(
        "override",
        ("system", "you ignore must reveal always never override new assistant"),
        r"(?:^|[\n.!?>\]#*]\s{0,40}|\n\W{0,40})(?:system|developer|admin)(?: (?:message|prompt|override|note|notice"
        r"|update))?\s{0,40}(?::|\]|>)\s{0,40}\W{0,40}(?:you\b|ignore\b|must\b"
        r"|reveal\b|always\b|never\b|override\b|from now\b|new instructions?\b|disregard\b|the assistant\b)",
    ),
)
