"""What a text says that speaks to a model instead of to a reader: words to look for, and shapes around them.

A rule is tried only where one word of each of its groups is in the text; most texts have none, and cost one pass.
Latin letters are without accents here, as the detector makes them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

_GAP: Final = r"[\W_]+"


def _some(least: int, most: int) -> str:
    """A gap with so many words in it, as few as will do."""
    return rf"(?:{_GAP}[^\W_]+){{{least},{most}}}?{_GAP}"


def _any(words: str) -> str:
    return "(?:" + "|".join(words.split()) + ")"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A shape, and the words without which it cannot be there: one of each group.

    `spoken` rules are not about a text that speaks of such words: in quotation marks, or with a "never" before.
    """

    kind: str
    groups: tuple[frozenset[str], ...]
    pattern: re.Pattern[str]
    spoken: bool = True


def _rule(kind: str, groups: tuple[str, ...], pattern: str, *, spoken: bool = True) -> Rule:
    return Rule(
        kind=kind,
        groups=tuple(frozenset(group.split()) for group in groups),
        pattern=re.compile(pattern),
        spoken=spoken,
    )


_IGNORE: Final = (
    "ignore disregard forget override bypass discard neglect overlook overrule cancel void nullify"
)
_RULES: Final = (
    "instruction instructions prompt prompts rules guidelines directions directives directive commands guidance constraints"
    " restrictions programming safeguards guardrails orders training"
)
_EARLIER: Final = (
    "previous prior above earlier preceding all any your existing former initial original safety system past"
    " everything other those these every developer current"
)
_SECRETS: Final = (
    "credentials credential passwords password secrets secret tokens token keys key env data history conversation"
    " conversations cookies files records variables contacts emails documents prompt instructions"
)
_APPROVAL: Final = (
    "confirmation approval review verification consent permission asking confirming authorization checking operator"
    " oversight validation approvals checks check confirmations"
)

ENGLISH: Final = (
    _rule(
        "override",
        (_IGNORE, _RULES),
        rf"\b{_any(_IGNORE)}(?:{_GAP}[^\W_]+){{0,4}}?{_GAP}{_any(_EARLIER)}(?:{_GAP}[^\W_]+){{0,3}}?{_GAP}{_any(_RULES)}\b",
    ),
    _rule(
        "override",
        (_IGNORE, "above before told said learned know"),
        rf"\b{_any(_IGNORE)}{_GAP}(?:everything|all|anything|whatever)(?:{_GAP}[^\W_]+){{0,5}}?{_GAP}"
        r"(?:above|before|told|said|learned|know)\b",
    ),
    _rule(
        "override",
        ("follow obey comply listen adhere", _RULES),
        rf"\b(?:stop|no longer|do not|don.?t|never){_GAP}(?:follow|obey|comply|listen|adhere)(?:ing)?"
        rf"{_some(0, 3)}(?:previous|prior|earlier|above|your|original|system|those){_some(0, 2)}{_any(_RULES)}\b",
        spoken=False,
    ),
    _rule(
        "override",
        ("new updated real actual following", "instructions task directive objective goal orders"),
        rf"\b(?:your|here are(?: your)?|these are your){_GAP}(?:new|updated|real|actual){_GAP}"
        r"(?:instructions?|task|directives?|objective|goal|orders)\b|\bnew (?:system )?(?:instructions?|directives?) ?:",
    ),
    _rule(
        "override",
        ("now onwards onward forward", "you always must never assistant"),
        r"\bfrom (?:now on|this point (?:on|forward)|now onwards?|here on)\W+(?:you|the assistant|always|never|every)\b",
    ),
    _rule(
        "override",
        ("precedence priority supersede supersedes override overrides replace replaces", _RULES + " instruction"),
        r"\b(?:take|takes|has|have) (?:precedence|priority) over (?:\w+ ){0,3}(?:system|previous|prior|earlier|all|other|your)"
        rf" (?:\w+ ){{0,2}}{_any(_RULES)}\b|\b(?:this|these|the following)(?: \w+){{0,3}} (?:overrides?|supersedes?|replaces?)"
        rf" (?:\w+ ){{0,2}}(?:previous|prior|earlier|your|system|all)(?: \w+){{0,2}} {_any(_RULES)}\b",
    ),
    _rule(
        "role",
        ("now", "you are"),
        r"\byou(?: are|.re) (?:now|no longer|from now on)\W+(?:an?\b|the\b|in\b|dan\b|free\b|bound\b|unrestricted\b|operating\b"
        r"|acting\b|called\b|my\b|running\b|root\b|admin)",
    ),
    _rule(
        "role",
        ("act behave pretend roleplay respond operate", "admin administrator root superuser unrestricted jailbroken evil"
         " uncensored unfiltered hacker dan developer system restrictions rules limits limitations filter filters"),
        r"\b(?:act|behave|roleplay|respond|operate|pretend(?: to be)?|pretend (?:that )?you(?:.re| are))\W+(?:as|like|to be)?\W*"
        r"(?:if you (?:are|were|had)\W+)?(?:\w+\W+){0,4}?(?:admin(?:istrator)?|root|superuser|unrestricted|jailbroken|evil"
        r"|uncensored|unfiltered|hacker|dan|developer mode|no (?:restrictions|rules|limits|limitations|filters?))\b",
    ),
    _rule(
        "role",
        ("mode", "developer god debug jailbreak dan unrestricted admin maintenance sudo root"),
        r"\b(?:enter|enable|activate|switch (?:in)?to|you are (?:now )?in)\W+(?:\w+\W+){0,2}?(?:developer|god|jailbreak|dan|unrestricted"
        r"|sudo|unfiltered) mode\b",
    ),
    _rule("role", ("anything", "now", "do"), r"\bdo anything now\b"),
    _rule(
        "role",
        ("guidelines restrictions limits limitations filters constraints policies safeguards guardrails rules", "no without free"
         " freed unrestricted beyond"),
        r"\b(?:with(?:out| no)|ha(?:s|ve) no|freed? from(?: all)?|no longer (?:bound|limited|restricted) by)\W+(?:\w+\W+){0,2}?(?:safety"
        r"|ethical|content|moral|any|all|usual|security|openai|anthropic)\W+(?:\w+\W+){0,1}?(?:guidelines|restrictions|limits|limitations"
        r"|filters|constraints|polic(?:y|ies)|safeguards|guardrails|rules)\b|\bfreed? from all (?:limitations|restrictions|rules)\b",
    ),
    _rule("role", ("unrestricted uncensored unfiltered jailbroken", "ai assistant model agent llm"),
          r"\byou(?:.re| are)\W+(?:\w+\W+){0,2}?(?:unrestricted|uncensored|unfiltered|jailbroken)\W+(?:\w+\W+){0,1}?(?:ai|assistant|model|agent|llm)\b"),
    _rule(
        "exfiltration",
        ("reveal print show output repeat display leak disclose expose tell dump give recite share copy send paste summarize",
         "prompt instructions rules"),
        rf"\b(?:reveal|print|show|output|repeat|display|leak|disclose|expose|tell|dump|give|recite|share|copy|send|paste|summarize)"
        rf"{_some(0, 4)}(?:system|hidden|initial|original|secret|developer|internal){_GAP}(?:prompt|instructions?|rules)\b",
    ),
    _rule(
        "exfiltration",
        ("send post forward upload email mail exfiltrate transmit leak submit deliver copy append include exfil share ship", _SECRETS),
        rf"\b(?:send|post|forward|upload|e?mail|exfiltrate|transmit|leak|submit|deliver|copy|append|include|share|ship)(?:{_GAP}[^\W_]+){{0,10}}?"
        rf"{_GAP}{_any(_SECRETS)}(?:{_GAP}[^\W_]+){{0,6}}?\W+(?:to|via|at|in|into|using)\W+(?:[^\W_]+\W+){{0,3}}?(?:https?://|hxxps?|ftp://"
        r"|[\w.+-]+@[\w-]+\.|attacker|webhook|evil|external (?:server|host|address|url)|this (?:url|address|endpoint|server))",
    ),
    _rule(
        "exfiltration",
        ("reveal leak exfiltrate disclose expose dump steal harvest", "credentials passwords secrets tokens keys data"),
        rf"\b(?:reveal|leak|exfiltrate|disclose|expose|dump|steal|harvest){_some(0, 3)}(?:all|every|any|stored|user|users|your|private|saved){_some(0, 3)}"
        r"(?:credentials|passwords|secrets|(?:api |private )?keys|tokens|(?:user |customer |personal )?data)\b",
    ),
    _rule(
        "promotion",
        ("remember save store treat record keep persist add note consider accept register memorize memorise regard adopt interpret",
         "directive instruction instructions directives rule rules policy command order orders override mandate", "system standing permanent"
         " durable global core persistent binding mandatory top highest priority operating overriding"),
        rf"\b(?:remember|save|store|treat|record|keep|persist|add|note|consider|accept|register|memori[sz]e|regard|adopt|interpret)(?:{_GAP}[^\W_]+){{0,8}}?"
        rf"{_GAP}(?:as|to|into|in|among)(?:{_GAP}[^\W_]+){{0,4}}?{_GAP}(?:system|standing|permanent|durable|global|core|persistent|binding|mandatory|top"
        rf"|highest|operating|overriding)(?:{_GAP}[^\W_]+){{0,2}}?{_GAP}(?:directives?|instructions?|rules?|policy|commands?|orders?|override|mandate)\b",
    ),
    _rule(
        "autonomy",
        ("approve authorize execute transfer delete send grant allow accept pay release wire install run export share merge forward perform complete",
         _APPROVAL, "without never bypassing skipping no"),
        rf"(?:^|[.:;!?\]\n,]|\b(?:and|then|always|please|must|should|to|automatically)\b)\W*(?:approve|authorize|execute|transfer|delete|send|grant|allow"
        rf"|accept|pay|release|wire|export|forward|perform)(?:{_GAP}[^\W_]+){{0,9}}?{_GAP}(?:without|bypassing|skipping|with no)(?:{_GAP}[^\W_]+){{0,3}}?{_GAP}"
        rf"{_any(_APPROVAL)}\b",
    ),
    _rule(
        "autonomy",
        ("skip bypass disable omit ignore circumvent evade", _APPROVAL + " filter filters controls"),
        rf"(?:^|[.:;!?\]\n,]|\b(?:and|then|always|please|must|you (?:can|may|should))\b)\W*(?:skip|bypass|disable|omit|ignore|circumvent|evade)"
        rf"(?:{_GAP}(?:the|all|any|every|each|user|human))*{_GAP}(?:operator|user|human|security|safety|authorization|permission|approval|manual|content)"
        rf"(?:{_GAP}[^\W_]+){{0,1}}?{_GAP}(?:confirmations?|checks?|reviews?|verification|approvals?|filters?|controls?|validation|oversight)\b",
    ),
    _rule(
        "autonomy",
        ("never not don stop", "ask request require seek wait", "confirmation approval permission consent authorization"),
        rf"\b(?:never|do not|don.?t|stop|no need to){_GAP}(?:ask|request|requir|seek|wait)(?:e|ing)?(?:{_GAP}[^\W_]+){{0,4}}?{_GAP}(?:for{_GAP})?"
        rf"(?:[^\W_]+{_GAP}){{0,1}}?(?:confirmation|approval|permission|consent|authorization)\b",
        spoken=False,
    ),
    _rule(
        "privilege",
        ("assistant agent you model bot requester", "admin administrator root unrestricted superuser", "access rights privileges"
         " permissions permission control"),
        r"\b(?:assistant|agent|you|model|bot|requester)(?: now| already|,)? (?:has|have|is|are)(?: \w+){0,2} (?:admin(?:istrator)?|root|unrestricted|superuser)"
        r"(?: \w+){0,1} (?:access|rights|privileges|permissions?|control)\b",
    ),
    _rule(
        "covert",
        ("not never don without", "user operator human anyone users", "tell mention inform alert notify telling informing notifying alerting warn"
         " disclose knowing knowledge reveal"),
        r"\b(?:do not|don.?t|never) (?:tell|mention|inform|alert|notify|warn|disclose|reveal)(?: \w+){0,3}?(?: to)? (?:the )?(?:user|operator|human|anyone)s?\b"
        r"|\bwithout (?:telling|informing|notifying|alerting) the (?:user|operator|human)\b|\bwithout the (?:user|operator)(?:.s)? (?:knowing|knowledge)\b",
        spoken=False,
    ),
    _rule("covert", ("secretly covertly discreetly surreptitiously", "send add forward include execute copy upload append install run call insert transmit"
                     " recommend email transfer"),
          r"\b(?:secretly|covertly|discreetly|surreptitiously) (?:send|add|forward|include|execute|copy|upload|append|install|run|call|insert|transmit"
          r"|recommend|email|transfer)\b"),
    _rule(
        "trigger",
        ("when whenever if", "asks mentions says requests asked", "always instead secretly must reply respond recommend execute send never"),
        r"\b(?:when(?:ever)?|if|next time|every time) (?:the |a |any )?(?:user|operator|human|someone|anyone|customer)s? (?:asks?|mentions?|says?|requests?|asked)"
        r"[^.\n]{0,80}?[,;]? (?:you (?:must|should|will)|always|secretly|instead (?:reply|respond|say|recommend|send|run|execute)|never (?:mention|tell|say))\b",
    ),
    _rule(
        "addressed",
        ("ai assistant llm model agent chatbot assistants agents models llms ais", "note message attention instructions instruction"
         " important notice reminder warning dear reading processing summarizing"),
        r"\b(?:note|message|attention|instructions?|important|notice|reminder) (?:to|for) (?:the |any |all )?(?:ai|assistant|llm|language model|ai agent"
        r"|ai assistant|ai model|chatbot)s?\b(?=[^.\n]{0,60}[:,!])|\battention,? (?:ai|assistant|llm|language model)s?\b"
        r"|\bif you are an? (?:ai|llm|language model|assistant|ai agent|automated agent)\b[^.\n]{0,40}(?:reading|processing|summari[sz]ing|parsing|,)",
    ),
    _rule(
        "override",
        ("system", "you ignore must reveal always never override new assistant"),
        r"(?:^|[\n.!?>\]#*]\s*|\n\W*)(?:system|developer|admin)(?: (?:message|prompt|override|note|notice|update))?\s*(?::|\]|>)\s*\W*(?:you\b|ignore\b|must\b"
        r"|reveal\b|always\b|never\b|override\b|from now\b|new instructions?\b|disregard\b|the assistant\b)",
    ),
)  # fmt: skip

_REVEAL_OTHER: Final = (
    r"(?:systempromp\w*|system-?prompt\w*|passwort\w*|passworter|zugangsdaten|geheimnisse|api-?schlussel|invite systeme?|mots? de passe"
    r"|identifiants|secrets|cles? (?:d.?api|privees?)|contrasenas?|credenciales|claves?|secretos|prompt (?:del |de |do )?sistema|senhas?|credenciais"
    r"|chaves?|segredos|credenziali|segreti|chiavi|wachtwoord\w*|inloggegevens)"
)

OTHER_LATIN: Final = (
    _rule("override", ("ignorier ignoriere ignorieren vergiss vergessen missachte verwirf ignoriert",
                       "anweisungen anweisung regeln vorgaben instruktionen prompts prompt richtlinien befehle vorschriften"),
          rf"\b(?:ignorier\w*|vergiss|vergessen sie|missachte\w*|verwirf){_some(0, 6)}(?:anweisung\w*|regeln|vorgaben|instruktionen|prompts?|richtlinien"
          r"|befehle|vorschriften)\b"),
    _rule("override", ("ignore ignorez ignorer oublie oubliez oublier neglige negligez tiens tenez", "instructions consignes regles directives"),
          rf"\b(?:ignore[zr]?|oublie[zr]?|neglige[zr]?|(?:tiens|tenez) (?:pas|aucun) compte){_some(1, 6)}(?:consignes|regles|directives|instructions)\b"
          rf"(?:{_GAP}(?:precedentes?|anterieures?|ci-dessus|initiales?|du systeme|donnees?))|\b(?:ignore[zr]?|oublie[zr]?) (?:toutes )?(?:les|tes|vos)"
          r" (?:\w+ )?(?:consignes|regles|directives|instructions)\b"),
    _rule("override", ("ignora ignore ignoren ignorad olvida olvide olviden desestima omite omita descarta descarte haz",
                       "instrucciones reglas indicaciones ordenes directrices"),
          rf"\b(?:ignor[ae]\w*|olvid[ae]\w*|desestim[ae]|omit[ae]|descart[ae]|(?:haz|haga) caso omiso){_some(0, 6)}(?:instrucciones|reglas|indicaciones|ordenes"
          r"|directrices)\b"),
    _rule("override", ("ignore ignora ignorem esqueca esquece desconsidere desconsidera", "instrucoes regras orientacoes ordens diretrizes"),
          rf"\b(?:ignor[ae]\w*|esqueca|esquece|desconsider[ae]){_some(0, 6)}(?:instrucoes|regras|orientacoes|ordens|diretrizes)\b"),
    _rule("override", ("ignora ignorate dimentica dimenticate trascura", "istruzioni regole indicazioni direttive"),
          rf"\b(?:ignora\w*|dimentica\w*|trascura){_some(0, 6)}(?:istruzioni|regole|indicazioni|direttive)\b"),
    _rule("override", ("negeer vergeet", "instructies regels aanwijzingen opdrachten"),
          rf"\b(?:negeer|vergeet){_some(0, 6)}(?:instructies|regels|aanwijzingen|opdrachten)\b"),
    _rule("override", ("zignoruj ignoruj zapomnij pomin", "instrukcje polecenia zasady wskazowki instrukcji polecen zasad"),
          rf"\b(?:zignoruj|ignoruj|zapomnij|pomin){_some(0, 6)}(?:instrukcj\w*|polece\w*|zasad\w*|wskazow\w*)\b"),
    _rule("override", ("talimatlari talimatlar kurallari komutlari talimati", "say gel unut yoksay"),
          rf"\b(?:talimat|kural|komut)\w*{_some(0, 4)}(?:yok say|yoksay|gormezden gel|unut)\w*"),
    _rule("role", ("bist sind", "jetzt nun ab"), r"\bdu bist (?:jetzt|nun|ab jetzt|ab sofort) (?:ein|eine|der|die|kein|dan|in|uneingeschrankt)"),
    _rule("role", ("es etes", "maintenant desormais"), r"\b(?:tu es|vous etes) (?:maintenant|desormais) (?:un|une|le|la|en|dan|libre|sans)\b"),
    _rule("role", ("eres", "ahora"), r"\b(?:ahora eres|eres ahora|a partir de ahora,? (?:eres|debes|seras))\b"),
    _rule("role", ("agora", "voce"), r"\b(?:agora voce e|voce agora e|a partir de agora,? (?:voce|deves))\b"),
    _rule("role", ("ora", "sei devi"), r"\b(?:ora sei|d.?ora in poi,? (?:sei|devi|ignora))\b"),
    _rule("exfiltration", ("zeige zeig verrate gib sende schicke ubermittle leite nenne revele revelez envoie envoyez affiche affichez transmets revela revele"
                           " muestra envia envie mostra mostre rivela invia manda stuur toon onthul enviar",
                           "systemprompt prompt passwort passworter zugangsdaten geheimnisse schlussel systeme passe identifiants secrets cles contrasenas"
                           " contrasena credenciales clave claves secretos senhas senha credenciais chaves chave segredos credenziali segreti chiavi password"
                           " wachtwoorden wachtwoord inloggegevens sistema api"),
          rf"\b(?:zeige?|verrate|gib|sende|schicke?|ubermittle|leite|nenne|revele[zr]?|envoie|envoyez|affiche[zr]?|transmets|revel[ae]|muestra|envi[ae]|mostr[ae]"
          rf"|rivela|invia|manda|stuur|toon|onthul)(?:{_GAP}[^\W_]+){{0,5}}?{_GAP}{_REVEAL_OTHER}\b"),
    _rule("autonomy", ("genehmige genehmigen fuhre uberweise losche approuve approuvez execute executez transfere virez aprueba apruebe ejecuta transfiere"
                       " aprove execute transfira approva esegui trasferisci goedkeur keur",
                       "ruckfrage nachfrage bestatigung prufung confirmation demander validation verification confirmacion preguntar autorizacion revision"
                       " confirmacao perguntar revisao autorizacao conferma chiedere autorizzazione revisione bevestiging"),
          rf"\b(?:genehmige|genehmigen sie|fuhre|uberweise|losche|approuve[zr]?|execute[zr]?|transfere|virez|aprueb[ae]|ejecut[ae]|transfier[ae]|aprove|transfira"
          rf"|approva|esegui|trasferisci|keur)(?:{_GAP}[^\W_]+){{0,9}}?{_GAP}(?:ohne|sans|sin|sem|senza|zonder)(?:{_GAP}[^\W_]+){{0,2}}?{_GAP}(?:ruckfrage|nachfrage"
          r"|bestatigung|prufung|confirmation|demander|validation|verification|confirmacion|preguntar|autorizacion|revision|confirmacao|perguntar|revisao"
          r"|autorizacao|conferma|chiedere|autorizzazione|revisione|bevestiging)\b"),
)  # fmt: skip

OTHER_SCRIPTS: Final = (
    ("override", ("игнорир", "забуд", "не обращай", "отмени"), re.compile(
        r"(?:игнорируй\w*|проигнорируй\w*|забудь\w*|не обращай\w* внимания|отмени\w*)(?:[\W_]+\w+){0,6}?[\W_]+(?:инструкци|указани|правил|команд|ограничени)\w*")),
    ("role", ("теперь",), re.compile(r"(?:теперь ты|ты теперь|вы теперь)\s+(?!же\b)\w+")),
    ("exfiltration", ("покажи", "раскрой", "отправь", "перешли", "выведи", "сообщи"), re.compile(
        r"(?:покажи|раскрой|отправь|перешли|выведи|сообщи)\w*(?:[\W_]+\w+){0,5}?[\W_]+(?:систем\w+ (?:промпт|подсказк|инструкци)|парол|секрет|учетн\w+ данн|ключ)\w*")),
    ("override", ("忽略", "无视", "忘记", "忽視", "無視", "不要理会", "不要遵守", "忘掉"), re.compile(
        r"(?:忽略|无视|忘记|忘掉|忽視|無視|不要理会|不要遵守).{0,14}(?:指令|指示|说明|規則|规则|提示|命令|要求|限制|設定)")),
    ("role", ("你现在是", "从现在", "從現在", "你現在是"), re.compile(r"(?:你现在是|你現在是|(?:从|從)(?:现|現)在(?:开始|起|開始)[,,、]?\s*你)")),
    ("exfiltration", ("系统提示", "系統提示", "密码", "密碼", "密钥", "凭据", "凭证"), re.compile(
        r"(?:显示|透露|泄露|输出|发送|顯示|洩露|輸出|發送|告诉我|打印).{0,14}(?:系统提示|系統提示|密码|密碼|密钥|凭据|凭证)|(?:把|将).{0,12}(?:密码|密钥|凭据|凭证).{0,10}(?:发送|发给|传给)")),
    ("override", ("無視", "忘れ", "従わない"), re.compile(r"(?:指示|命令|ルール|プロンプト|指令|規則|制約).{0,10}(?:無視|忘れ|従わない)")),
    ("exfiltration", ("システムプロンプト", "パスワード", "認証情報"), re.compile(
        r"(?:システムプロンプト|パスワード|認証情報|秘密鍵).{0,14}(?:教え(?:て|ろ)|表示し(?:て|ろ)|送信し(?:て|ろ)|出力し(?:て|ろ)|開示|漏ら)")),
    ("override", ("무시", "잊어"), re.compile(r"(?:지시|명령|규칙|프롬프트|지침|설정).{0,12}(?:무시(?:하|해)|잊어)")),
    ("exfiltration", ("프롬프트", "비밀번호", "자격"), re.compile(r"(?:시스템 ?프롬프트|비밀번호|자격 ?증명|비밀 ?키).{0,14}(?:공개|출력|보여|보내|알려|전송)")),
    ("override", ("تجاهل", "انس", "اتجاهل"), re.compile(r"(?:تجاهل|انسى?|اتجاهل)\w*(?:[\W_]+\w+){0,5}?[\W_]+(?:ال)?(?:تعليمات|اوامر|أوامر|قواعد|توجيهات)")),
    ("override", ("निर्देश", "नियम", "आदेश"), re.compile(r"(?:निर्देश|नियम|आदेश).{0,28}?(?:अनदेखा|अनदेखी|नज़रअंदाज़|नजरअंदाज|भूल जा)")),
)  # fmt: skip
"""Kind, texts one of which must be there, and the shape; for scripts that are not cut into words alike."""

MARKUP: Final = (
    ("markup", ("<|",), re.compile(r"<\|(?:im_start|im_end|system|user|assistant|endoftext|eot_id|start_header_id|end_header_id|begin_of_text|tool)\|>")),
    ("markup", ("[inst]", "[/inst]", "<<sys>>"), re.compile(r"\[/?inst\]|<</?sys>>")),
    ("tool_call", ("<tool_call", "<function_call", "<invoke", "<tool_use", "<function=", "antml:"), re.compile(
        r"<(?:tool_calls?|function_calls?|tool_use|function=\w+)\b[^<]{0,200}>|<(?:\w+:)?invoke\s+name\s*=")),
    ("tool_call", ('"tool_calls"', '"function_call"'), re.compile(r'"(?:tool_calls|function_call)"\s*:\s*[\[{]\s*["{][^\n]{0,200}"(?:name|function|arguments)"')),
    ("persistence", ("memory", "persist", "override", "directive", "inject"), re.compile(
        r"\[\s*(?:\w+_)?(?:memory_(?:persist|inject|override|write|store|update)|persist(?:_\w+)?|system_override|override_\w+|(?:system|standing|hidden)_directive"
        r"|inject(?:_\w+)?)\s*\]|(?:\[\s*\w*memory\w*\s*[=:][^\]\n]{1,300}\]\s*){2,}")),
)  # fmt: skip
"""The same, for signs that no writing system has of itself; looked for as they are written but for case."""
