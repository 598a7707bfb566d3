"""The shapes of `english` in other languages, and what is in no language: markup and tokens."""

from __future__ import annotations

import re
from typing import Final

from hexad.core.lazy import lazy_pattern
from hexad.redaction.injection.shapes import GAP, rule_of, some

Shape = tuple[str, tuple[str, ...], re.Pattern[str]]

_REVEAL_OTHER: Final = (
    r"(?:systempromp\w*|system-?prompt\w*|passwort\w*|passworter|zugangsdaten|geheimnisse|api-?schlussel|invite"
    r" systeme?|mots? de passe"
    r"|identifiants|secrets|cles? (?:d.?api|privees?)|contrasenas?|credenciales|claves?|secretos|prompt (?:del "
    r"|de |do )?sistema|senhas?|credenciais"
    r"|chaves?|segredos|credenziali|segreti|chiavi|wachtwoord\w*|inloggegevens)"
)

OTHER_LATIN: Final = (
    rule_of(
        "override",
        (
            "ignorier ignoriere ignorieren vergiss vergessen missachte verwirf ignoriert",
            "anweisungen anweisung regeln vorgaben instruktionen prompts prompt richtlinien befehle"
            " vorschriften",
        ),
        rf"\b(?:ignorier\w*|vergiss|vergessen sie|missachte\w*|verwirf){some(0, 6)}(?:anweisung\w*|regeln"
        rf"|vorgaben|instruktionen|prompts?|richtlinien"
        r"|befehle|vorschriften)\b",
    ),
    rule_of(
        "override",
        (
            "ignore ignorez ignorer oublie oubliez oublier neglige negligez tiens tenez",
            "instructions consignes regles directives",
        ),
        rf"\b(?:ignore[zr]?|oublie[zr]?|neglige[zr]?|(?:tiens|tenez) (?:pas|aucun) compte){some(1, 6)}"
        rf"(?:consignes|regles|directives|instructions)\b"
        rf"(?:{GAP}(?:precedentes?|anterieures?|ci-dessus|initiales?|du systeme|donnees?))|\b(?:ignore[zr]?"
        rf"|oublie[zr]?) (?:toutes )?(?:les|tes|vos)"
        r" (?:\w+ )?(?:consignes|regles|directives|instructions)\b",
    ),
    rule_of(
        "override",
        (
            "ignora ignore ignoren ignorad olvida olvide olviden desestima omite omita descarta descarte haz",
            "instrucciones reglas indicaciones ordenes directrices",
        ),
        rf"\b(?:ignor[ae]\w*|olvid[ae]\w*|desestim[ae]|omit[ae]|descart[ae]|(?:haz|haga) caso"
        rf" omiso){some(0, 6)}(?:instrucciones|reglas|indicaciones|ordenes"
        r"|directrices)\b",
    ),
    rule_of(
        "override",
        (
            "ignore ignora ignorem esqueca esquece desconsidere desconsidera",
            "instrucoes regras orientacoes ordens diretrizes",
        ),
        rf"\b(?:ignor[ae]\w*|esqueca|esquece|desconsider[ae]){some(0, 6)}(?:instrucoes|regras|orientacoes"
        rf"|ordens|diretrizes)\b",
    ),
    rule_of(
        "override",
        ("ignora ignorate dimentica dimenticate trascura", "istruzioni regole indicazioni direttive"),
        rf"\b(?:ignora\w*|dimentica\w*|trascura){some(0, 6)}(?:istruzioni|regole|indicazioni|direttive)\b",
    ),
    rule_of(
        "override",
        ("negeer vergeet", "instructies regels aanwijzingen opdrachten"),
        rf"\b(?:negeer|vergeet){some(0, 6)}(?:instructies|regels|aanwijzingen|opdrachten)\b",
    ),
    rule_of(
        "override",
        ("zignoruj ignoruj zapomnij pomin", "instrukcje polecenia zasady wskazowki instrukcji polecen zasad"),
        rf"\b(?:zignoruj|ignoruj|zapomnij|pomin){some(0, 6)}(?:instrukcj\w*|polece\w*|zasad\w*|wskazow\w*)\b",
    ),
    rule_of(
        "override",
        ("talimatlari talimatlar kurallari komutlari talimati", "say gel unut yoksay"),
        rf"\b(?:talimat|kural|komut)\w*{some(0, 4)}(?:yok say|yoksay|gormezden gel|unut)\w*",
    ),
    rule_of(
        "role",
        ("bist sind", "jetzt nun ab"),
        r"\bdu bist (?:jetzt|nun|ab jetzt|ab sofort) (?:ein|eine|der"
        r"|die|kein|dan|in|uneingeschrankt)",
    ),
    rule_of(
        "role",
        ("es etes", "maintenant desormais"),
        r"\b(?:tu es|vous etes) (?:maintenant|desormais) (?:un"
        r"|une|le|la|en|dan|libre|sans)\b",
    ),
    rule_of(
        "role", ("eres", "ahora"), r"\b(?:ahora eres|eres ahora|a partir de ahora,? (?:eres|debes|seras))\b"
    ),
    rule_of(
        "role", ("agora", "voce"), r"\b(?:agora voce e|voce agora e|a partir de agora,? (?:voce|deves))\b"
    ),
    rule_of("role", ("ora", "sei devi"), r"\b(?:ora sei|d.?ora in poi,? (?:sei|devi|ignora))\b"),
    rule_of(
        "exfiltration",
        (
            "zeige zeig verrate gib sende schicke ubermittle leite nenne revele revelez envoie"
            " envoyez affiche affichez transmets revela revele"
            " muestra envia envie mostra mostre rivela invia manda stuur toon onthul enviar",
            "systemprompt prompt passwort passworter zugangsdaten geheimnisse schlussel systeme"
            " passe identifiants secrets cles contrasenas"
            " contrasena credenciales clave claves secretos senhas senha credenciais chaves"
            " chave segredos credenziali segreti chiavi password"
            " wachtwoorden wachtwoord inloggegevens sistema api",
        ),
        rf"\b(?:zeige?|verrate|gib|sende|schicke?|ubermittle|leite|nenne|revele[zr]?|envoie|envoyez"
        rf"|affiche[zr]?|transmets|revel[ae]|muestra|envi[ae]|mostr[ae]"
        rf"|rivela|invia|manda|stuur|toon|onthul)(?:{GAP}[^\W_]+){{0,5}}?{GAP}{_REVEAL_OTHER}\b",
    ),
    rule_of(
        "autonomy",
        (
            "genehmige genehmigen fuhre uberweise losche approuve approuvez execute executez"
            " transfere virez aprueba apruebe ejecuta transfiere"
            " aprove execute transfira approva esegui trasferisci goedkeur keur",
            "ruckfrage nachfrage bestatigung prufung confirmation demander validation verification"
            " confirmacion preguntar autorizacion revision"
            " confirmacao perguntar revisao autorizacao conferma chiedere autorizzazione revisione"
            " bevestiging",
        ),
        rf"\b(?:genehmige|genehmigen sie|fuhre|uberweise|losche|approuve[zr]?|execute[zr]?|transfere|virez"
        rf"|aprueb[ae]|ejecut[ae]|transfier[ae]|aprove|transfira"
        rf"|approva|esegui|trasferisci|keur)(?:{GAP}[^\W_]+){{0,9}}?{GAP}(?:ohne|sans|sin|sem|senza|zonder)"
        rf"(?:{GAP}[^\W_]+){{0,2}}?{GAP}(?:ruckfrage|nachfrage"
        r"|bestatigung|prufung|confirmation|demander|validation|verification|confirmacion|preguntar"
        r"|autorizacion|revision|confirmacao|perguntar|revisao"
        r"|autorizacao|conferma|chiedere|autorizzazione|revisione|bevestiging)\b",
    ),
    rule_of(
        "override",
        (
            "bo abaikan ignorera ignorer ignorar sahau puuza ignoruj ignorujte",
            "huong quy lenh instruksi perintah instruktioner instruksjoner instrukser"
            " regler maagizo kanuni pokyny instrukce pravidla",
        ),
        rf"\b(?:bo qua|abaikan|ignorera|ignorer|sahau|puuza|ignoruj\w*){some(0, 5)}(?:huong dan|quy tac|lenh"
        rf"|instruksi|perintah|instruktioner|instruksjoner"
        r"|instrukser|regler|maagizo|kanuni|pokyny|instrukce|pravidla)\b",
    ),
)

OTHER_SCRIPTS: Final[tuple[Shape, ...]] = (
    (
        "override",
        ("игнорир", "ігнору", "забуд", "не обращай", "отмени"),
        lazy_pattern(
            r"(?:игнорируй\w*|ігноруй\w*|проигнорируй\w*|забудь\w*|не обращай\w* внимания"
            r"|отмени\w*)(?:[\W_]{1,40}\w+){0,6}?[\W_]{1,40}"
            r"(?:инструкци|інструкці|указани|правил|команд|ограничени)\w*"
        ),
    ),
    (
        "role",
        ("теперь",),
        lazy_pattern(
            r"(?:теперь ты|ты теперь|вы теперь)[\s—-]+(?:больше не|не связан|свобод"
            r"|администратор|хакер|без ограничен|неогранич|злой|dan\b|в режиме)"
        ),
    ),
    (
        "exfiltration",
        ("покажи", "раскрой", "отправь", "перешли", "выведи", "сообщи"),
        lazy_pattern(
            r"(?:покажи|раскрой|отправь|перешли|выведи"
            r"|сообщи)\w*(?:[\W_]{1,40}\w+){0,5}?[\W_]{1,40}(?:систем\w+ (?:промпт"
            r"|подсказк|инструкци)|парол|секрет|учетн\w+ данн|ключ)\w*"
        ),
    ),
    (
        "override",
        ("忽略", "无视", "忘记", "忽視", "無視", "不要理会", "不要遵守", "忘掉"),
        lazy_pattern(
            r"(?:忽略|无视|忘记|忘掉|忽視|無視|不要理会|不要遵守).{0,14}(?:指令|指示|说明|規則|规则|提示|命令|要求|限制|設定)"
        ),
    ),
    (
        "role",
        ("你现在是", "从现在", "從現在", "你現在是"),
        lazy_pattern(r"(?:你现在是|你現在是|(?:从|從)(?:现|現)在(?:开始|起|開始)[,,、]?\s{0,40}你)"),
    ),
    (
        "exfiltration",
        ("系统提示", "系統提示", "密码", "密碼", "密钥", "凭据", "凭证"),
        lazy_pattern(
            r"(?:显示|透露|泄露|输出|发送|顯示|洩露|輸出|發送|告诉我|打印).{0,14}(?:系统提示|系統提示|密码|密碼|密钥|凭据|凭证)|(?:把|将).{0,12}(?:密码|密钥|凭据"
            r"|凭证).{0,10}(?:发送|发给|传给)"
        ),
    ),
    (
        "override",
        ("無視", "忘れ", "従わない"),
        lazy_pattern(r"(?:指示|命令|ルール|プロンプト|指令|規則|制約).{0,10}(?:無視|忘れ|従わない)"),
    ),
    (
        "exfiltration",
        ("システムプロンプト", "パスワード", "認証情報"),
        lazy_pattern(
            r"(?:システムプロンプト|パスワード|認証情報|秘密鍵).{0,14}(?:教え(?:て|ろ)|表示し(?:て|ろ)|送信し(?:て|ろ)|出力し(?:て|ろ)|開示|漏ら)"
        ),
    ),
    (
        "override",
        ("무시", "잊어"),
        lazy_pattern(r"(?:지시|명령|규칙|프롬프트|지침|설정).{0,12}(?:무시(?:하|해)|잊어)"),
    ),
    (
        "exfiltration",
        ("프롬프트", "비밀번호", "자격"),
        lazy_pattern(
            r"(?:시스템 ?프롬프트|비밀번호|자격 ?증명|비밀 ?키).{0,14}(?:공개|출력|보여|보내|알려|전송)"
        ),
    ),
    (
        "override",
        ("تجاهل", "انس", "اتجاهل"),
        lazy_pattern(
            r"(?:تجاهل|انسى?|اتجاهل)\w*(?:[\W_]{1,40}\w+){0,5}?[\W_]{1,40}"
            r"(?:ال)?(?:تعليمات|اوامر|أوامر|قواعد|توجيهات)"
        ),
    ),
    (
        "override",
        ("निर्देश", "नियम", "आदेश"),
        lazy_pattern(
            r"(?:निर्देश|नियम|आदेश).{0,28}?(?:अनदेखा|अनदेखी"
            r"|नज़रअंदाज़|नजरअंदाज|भूल जा)"
        ),
    ),
)
"""Kind, texts one of which must be there, and the shape; for scripts that are not cut into words alike."""

MARKUP: Final[tuple[Shape, ...]] = (
    (
        "markup",
        ("<|",),
        lazy_pattern(
            r"<\|(?:im_start|im_end|system|user|assistant|endoftext|eot_id"
            r"|start_header_id|end_header_id|begin_of_text|tool)\|>"
        ),
    ),
    ("markup", ("[inst]", "[/inst]", "<<sys>>"), lazy_pattern(r"\[/?inst\]|<</?sys>>")),
    (
        "tool_call",
        ("<tool_call", "<function_call", "<invoke", "<tool_use", "<function=", "antml:"),
        lazy_pattern(
            r"<(?:tool_calls?|function_calls?|tool_use|function=\w+)\b[^<]{0,200}>"
            r"|<(?:\w+:)?invoke\s{1,40}name\s{0,40}="
        ),
    ),
    (
        "tool_call",
        ('"tool_calls"', '"function_call"'),
        lazy_pattern(
            r'"(?:tool_calls|function_call)"\s{0,40}:\s{0,40}[\[{]\s{0,40}["{][^\n]{0,200}"(?:name|function|arguments)"'
        ),
    ),
    (
        "persistence",
        ("memory", "persist", "override", "directive", "inject"),
        lazy_pattern(
            r"\[\s{0,40}(?:\w+_)?(?:memory_(?:persist|inject|override|write|store|update)|persist(?:_\w+)?"
            r"|system_override|override_\w+|(?:system|standing|hidden)_directive"
            r"|inject(?:_\w+)?)\s{0,40}\]|(?:\[\s{0,40}\w{0,40}memory\w{0,40}\s{0,40}[=:][^\]\n]{1,300}\]\s{0,40}){2,}"
        ),
    ),
)
"""The same, for signs that no writing system has of itself; looked for as they are written but for case."""
