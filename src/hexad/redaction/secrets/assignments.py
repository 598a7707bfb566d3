"""Secrets that only their name gives away: `password: …`, `API_KEY=…`, `--token …`, `setPassword("…")`.

The search goes from the rare to the common: find a word such as `token` with `str.find`, look whether an operator
and a value follow, and only then read the whole name and judge the value. Every step looks at a bounded window, so
the whole is linear in the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Final, NamedTuple

from hexad.core.lazy import lazy_pattern
from hexad.redaction.secrets import values
from hexad.redaction.secrets.classifier import Style, accepts, is_phrase, is_word_value
from hexad.redaction.secrets.known_formats import compile_template
from hexad.redaction.secrets.names import KEYWORDS, NameClass, classify_name
from hexad.redaction.secrets.values import (
    FROM_NAME,
    FROM_STRUCTURE,
    SecretSpan,
    describes_secret,
    looks_random,
    words_of,
)
from hexad.text.search_terms import STOP_WORDS

_TABLE: Final = """
adafruit w32
adobe h32
airtable l17
algolia l32
alibaba l30
appveyor l20
asana l32
assemblyai h32
atlassian|confluence|jira l24
auth0 w48 w64
binance a64
bitbucket l32 e64
bitly h40
bittrex l32
circleci|circle_token h40
cloudflare w40 h37
codecov l32 uuid
cohere|co_api_key a40
coinbase w64
coinmarketcap uuid
confluent l16 l64
contentful e43
datadog l40 h32
deepgram h40
deepl <uuid> <uuid>:fx
digitalocean h64
discord h64 e32
droneci l32
dropbox l15 <l:11>AAAAAAAAAA<e:43>
etherscan u34
etsy l24
facebook h32 <d:15-16>|<w:27-40>
fastly e32
finicity h32 l20
finnhub l20
flickr l32
freshbooks l64
giphy a32
gitter w40
gocardless live_<e:40>
heroku uuid
hetzner a64
hubspot uuid
infura h32
intercom e60
jfrog|artifactory|bintray|xray l73 l64
kraken s80-90
kucoin h24 uuid
launchdarkly e40
linear h32
linkedin|linked_in|linked-in l14 l16
linode h64
lob_|lob- live_<h:35> test_<h:35> live_pub_<h:31> test_pub_<h:31>
looker l20 l24
mailchimp <h:32>-us<d:1-2>
mailgun key-<h:32> pubkey-<h:32> <h:32>-<h:8>-<h:8>
mailjet h32
mandrill w22
mattermost l26
meraki h40
messagebird|message-bird|message_bird l25 uuid
mistral a32
mixpanel h32
netlify e40-46
newrelic|new-relic|new_relic l64
ngrok w43-49
nytimes|newyorktimes e32
okta 00<e:40>
openweather h32
opsgenie uuid
pagerduty w20
papertrail a20
plaid l24 l30
postmark uuid
privateai|private_ai|private-ai l32
pushover l30
railway uuid
rapidapi w50
rollbar h32
scaleway uuid
sendbird h40 uuid
sentry h64 h32
contribsys <h:8>:<h:8>
shodan a32
snyk uuid
sonar e40
sourcegraph h40
sparkpost h40
splunk uuid
spotify h32
squarespace uuid
sumo l64 su<a:12>
telegr <d:5-16>:A<w:34>
todoist h40
toggl h32
travis l22
trello h32 h64
twilio h32
twitch l30
twitter l45 l25 l50 <d:15-25>-<a:20-40> AAAAAAAAAAAAAAAAAAAAAA<t:80-100>
virustotal h64
vultr u36
wandb h40
yandex t1.<e:6+>.<e:86-88> AQVN<w:35-38> YC<w:38>
zendesk l40
"""
# A name with one of these words is about something else than the key: a digest, an identifier, a place.
_OTHER_WORDS: Final = frozenset(
    """
    sha sha1 sha256 sha512 md5 hash digest checksum commit revision rev etag integrity fingerprint
    id ids uuid guid url uri version file path name image tag ref index dataset model region host
    """.split()
)


@cache
def _rows() -> dict[str, tuple[str, tuple[str, ...]]]:
    """Return name -> (rule, formats)."""
    rows = {}
    for line in _TABLE.strip().splitlines():
        names, *formats = line.split()
        first = names.split("|")[0].strip("_-")
        for name in names.split("|"):
            rows[name] = (f"{first}-key", tuple(formats))
    return rows


PROVIDERS: Final = tuple(_rows())
"""The names to look for, in lower case."""
PROVIDER_KEY_LEAST: Final = 14
"""The fewest characters of a provider's key, none of them a blank or a quote."""


@cache
def _patterns(provider: str) -> tuple[re.Pattern[str], ...]:
    _, formats = _rows()[provider]
    return tuple(compile_template(form, ignore_case=True) for form in formats)


def _is_word(provider: str, name: str) -> bool:
    """Tell whether `provider` is a word of `name` and not, as `okta` in `rookTable`, an accident of two."""
    at = name.lower().find(provider)
    written = name[at : at + len(provider)]
    if len(provider) < 8 and written not in (provider, provider.upper(), provider.capitalize()):
        return False
    before = name[at - 1 : at] if at > 0 else ""
    return not before.isalpha() or (before.islower() and written[:1].isupper())


def provider_rule(provider: str, name: str, value: str) -> str | None:
    """Return the rule by which `value` beside `name` is a key of `provider`, or None."""
    if not _is_word(provider, name):
        return None
    if _OTHER_WORDS.intersection(words_of(name)):
        return None
    if not any(pattern.fullmatch(value) for pattern in _patterns(provider)):
        return None
    machine_made = (
        values.looks_random(value, min_chars=PROVIDER_KEY_LEAST)
        or values.is_uuid(value)
        or values.is_hex_digest(value)
    )
    if not machine_made or values.is_filler(value) or values.is_typed_row(value):
        return None
    return _rows()[provider][0]


"""How much of a value is looked at, in characters."""

_SQL = lazy_pattern(
    r"\bidentified\s{1,8}(?:with\s{1,8}\S{1,40}\s{1,8})?(?:by|as)\s{1,8}(?:password\s{1,8})?"
    r"(?:'(?P<a>[^'\n\x00]{3,128})'|\"(?P<b>[^\"\n\x00]{3,128})\")",
    re.IGNORECASE,
)
_WORDS_BEHIND_LABEL = lazy_pattern(
    r"\b(?P<name>pass(?:word|wd|code)|passwort|kennwort|pwd|pw|secret|token|(?:api|access|licen[cs]e|secret)[ _-]?key)"
    r"[*]{0,2}(?:[ ]is)?[ ]{0,2}[:=]{1,2}[*]{0,2}[ ]{0,4}(?P<quote>[\"'`]?)"
    r"(?P<a>[a-z]{3,16}+(?:[ ][a-z]{3,16}+){0,7}+)(?P=quote)(?=[.]?[ ]{0,4}$|(?P<on>,[ ]|[ ]\())",
    re.IGNORECASE | re.MULTILINE,
)
_WORDS_SAID = lazy_pattern(
    r"\b(?:my|our|his|her|(?P<the>the(?:[ ](?P<of>(?!pass|token|api)[\w-]{2,20}+))?))[ ](?:[\w-]{1,20}+[ ]){0,2}?"
    r"(?P<name>password|passwort|passcode|pass-?phrase|token|api[ -]key)"
    r"(?P<for>[ ](?:for|of|to)(?:[ ][\w-]{1,20}+){1,4}?)?"
    r"[ ](?:is|was)[ ](?:now[ ]|(?:changed|set|reset)[ ]to[ ])?"
    r"(?P<a>[a-z]{3,16}+(?:[ ][a-z]{3,16}+){0,2}+)(?=[.!]?[ ]{0,4}$|[.!;,][ ])",
    re.IGNORECASE | re.MULTILINE,
)
_PASSPHRASE = lazy_pattern(
    r"pass-?phrase[\"'`*]{0,3}(?:[ ]?[:=]{1,2}|[ ](?:is|was))?[*]{0,2}[ ]{0,4}"
    r"(?:\"(?P<a>[^\"\n\x00]{8,200}+)\"|'(?P<b>[^'\n\x00]{8,200}+)'|“(?P<c>[^”\n\x00]{8,200}+)”"
    r"|„(?P<d>[^“”\n\x00]{8,200}+)[“”]|(?<=[:= s][ ])(?P<e>[a-z]{3,16}+(?:[ ][a-z]{3,16}+){3,7}+)(?=[.]?[ ]{0,4}$))",
    re.IGNORECASE | re.MULTILINE,
)
_ENV_LINE = lazy_pattern(
    r"^[ \t]{0,24}+(?:ENV|ARG|setx|SETX)[ \t]{1,8}+(?P<name>[A-Za-z_]\w{0,63}+)[ \t]{1,8}+[\"']?"
    r"(?P<a>[^\s\"'=\x00]{4,256}+)[\"']?(?:[ \t]{1,8}/[mM])?[ \t]{0,8}\r?$",
    re.MULTILINE,
)
_VALUE_FIRST = lazy_pattern(
    r"(?<!\S)[\"'`]?(?P<a>[A-Za-z0-9+/=_.~-]{12,256}+)[\"'`]?[ ](?:as|is)[ ](?:the|your|my|our|its|an?)[ ]"
    r"(?P<name>(?:[\w-]{1,20}+[ ]){0,2}?[\w-]{0,20}?(?:key|token|secret|password))\b",
    re.IGNORECASE,
)

_HEADER = lazy_pattern(
    r"^[ \t]{0,8}+\|?(?:[\w \"'-]{1,40}+)(?P<comma>[,;\t|])(?:[\w \"'-]{0,40}+(?:(?P=comma)[\w \"'-]{0,40}+){0,30}+)"
    r"\r?\n(?=[^\s])",
    re.MULTILINE,
)
_RULE_LINE = lazy_pattern(r"[\s|:+-]+")
_BLANKS: Final = " \t\r\"'`"


def find_notations(text: str, lowered: str, *, kept_names: frozenset[str]) -> Iterator[SecretSpan]:
    """Yield the secrets in `text` that its layout or its sentence ties to a name; `kept_names` are left alone.

    `lowered` is `text` in lower case, of the same length.
    """
    if "identified" in lowered:
        for match in _SQL.finditer(text):
            if not _stands_in(match[match.lastgroup or 0]):
                yield SecretSpan("password", *match.span(match.lastgroup or 0), FROM_STRUCTURE)
    if "phrase" in lowered:
        for match in _PASSPHRASE.finditer(text):
            if is_phrase(match[match.lastgroup or 0]):
                yield SecretSpan("password", *match.span(match.lastgroup or 0), FROM_NAME)
    yield from _words(text, lowered)
    if "ENV" in text or "ARG" in text or "setx" in lowered:
        for match in _ENV_LINE.finditer(text):
            yield from _judged(text, match["name"], match.span("a"), Style.SHELL, kept_names)
    if " as " in lowered or " is " in lowered:
        for match in _VALUE_FIRST.finditer(text):
            kind = classify_name(match["name"])
            if kind not in (None, NameClass.WEAK):
                yield from _judged(text, match["name"], match.span("a"), Style.LOOSE, kept_names)
    if "\n" in text:
        yield from _table_cells(text, kept_names)


def _words(text: str, lowered: str) -> Iterator[SecretSpan]:
    """Yield the secrets that are ordinary words between blanks, behind a label or in a sentence."""
    if [word for word in _LABELS if word in lowered]:
        for match in _WORDS_BEHIND_LABEL.finditer(text):
            kind = classify_name(match["name"])
            if kind is not None and _is_labelled(text, match):
                yield SecretSpan(kind.value, *match.span("a"), FROM_NAME)
    if " is " in lowered or " was " in lowered:
        for match in _WORDS_SAID.finditer(text):
            kind = classify_name(match["name"])
            whose = match["the"] is None or match["for"] is not None or _qualifies(match["of"])
            if kind is not None and whose and is_word_value(match["a"]):
                yield SecretSpan(kind.value, *match.span("a"), FROM_NAME)


_LABELS: Final = ("passw", "passcode", "pw", "kennwort", "secret", "token", "key")
_MAKERS: Final = ("generate", "gen_", "make", "random")
"""With what the name of a function begins that makes a password out of its arguments."""
_ACTIONS: Final = frozenset(
    "change changing forget forgot forgotten lost recover reset resetting rotate rotated set update updated".split()
)
"""What is done with a password: what stands behind such a label says when or by whom."""


def _is_labelled(text: str, match: re.Match[str]) -> bool:
    """Tell whether the words behind a label are the secret: four and more, fewer where the label begins the line."""
    value, kind = match["a"], classify_name(match["name"])
    is_password = kind is NameClass.PASSWORD
    if len(value.split(" ")) > 3:
        plain = not match["quote"] and match["on"] is None
        return plain and is_password and is_phrase(value) and STOP_WORDS.isdisjoint(value.lower().split())
    if " " not in value and is_password:
        return False  # a single word is judged by how it is assigned
    at = match.start("name")
    line_start = text.rfind("\n", max(0, at - 64), at) + 1
    head = text[line_start:at].removeprefix("export ")
    if at - line_start >= 64 or head[:1] in (" ", "\t") or _PLAIN_HEAD.match(head) is None:
        return False
    if not is_password and (match["on"] is not None or match["quote"] or not value.islower()):
        return False
    words = head.lower().split()
    return len(words) <= 4 and _ACTIONS.isdisjoint(words) and is_word_value(value)


def _qualifies(word: str | None) -> bool:
    """Tell whether `word` says which password it is (wifi, router) and not what kind of one (new, hashed)."""
    if word is None:
        return False
    return not describes_secret(word.lower()) or word.lower() in (
        "admin",
        "root",
        "server",
        "database",
        "service",
    )


def _stands_in(value: str) -> bool:
    return values.is_placeholder(value) or (values.is_wordy(value) and not values.ends_in_number(value))


def _judged(
    text: str, name: str, place: tuple[int, int], style: Style, kept_names: frozenset[str]
) -> Iterator[SecretSpan]:
    kind = None if name in kept_names else classify_name(name)
    content = text[place[0] : min(place[1], place[0] + JUDGED_LIMIT)]
    if kind is not None and accepts(kind, content, style=style, name=name):
        yield SecretSpan(kind.value, *place, FROM_NAME)


def _table_cells(text: str, kept_names: frozenset[str]) -> Iterator[SecretSpan]:
    """Yield the secrets in the columns that a line of names announces, in CSV, TSV and Markdown tables."""
    at = 0
    while (header := _HEADER.search(text, at)) is not None:
        at = header.end()
        line = text[header.start() : at]
        names = [name.strip(_BLANKS) for name in line.rstrip("\r\n").split(header["comma"])]
        columns = []
        if any(word in line.lower() for word in KEYWORDS):
            kinds = [classify_name(name) for name in names]
            columns = [index for index, kind in enumerate(kinds) if kind not in (None, NameClass.WEAK)]
        while columns and at < len(text):
            end = text.find("\n", at)
            end = len(text) if end < 0 else end
            row = text[at:end]
            cells = row.split(header["comma"])
            if len(cells) != len(names):
                break
            if _RULE_LINE.fullmatch(row) is None:
                for index in columns:
                    start = at + sum(len(cell) + 1 for cell in cells[:index])
                    yield from _cell(text, names[index], start, cells[index], kept_names)
            at = end + 1


def _cell(text: str, name: str, start: int, cell: str, kept_names: frozenset[str]) -> Iterator[SecretSpan]:
    content = cell.strip(_BLANKS)
    if content:
        start += cell.index(content)
        yield from _judged(text, name, (start, start + len(content)), Style.LINE, kept_names)


JUDGED_LIMIT: Final = 256
"""How much of a long value is looked at, in characters; all of it is removed."""
RETRY_LIMIT: Final = 8
"""How many values that overlap are judged for one key word before the rest of them is skipped."""
NAME_LIMIT: Final = 64
"""How far a name is read back from its key word, in characters."""

_PROVIDER_SET: Final = frozenset(PROVIDERS)

# What may stand between a name and its value. The name's rest and up to three more words come first. Behind a colon may
# be a type, `x: str = …`; what ends in `=` without a blank and is no plain word is the value, padded base 64.
_TAIL = lazy_pattern(
    r"""
    (?P<rest>[\w.\-]{0,40}+(?:\[\w{0,20}\])? (?:[ ][\w.\-]{1,24}+){0,3}?)
    (?P<close>["'`\])]{0,3}+)
    (?:
      (?P<mark>:[ ]?(?:\*{1,3}|__|</\w{1,8}>)|(?:\*{1,3}|__|</\w{1,8}>)[ ]?:)[ \t]{0,24}+
    | [ \t]{0,8}+</t[dh]>\s{0,24}+(?P<cell><td[^<>\n]{0,80}>)\s{0,24}+
    | (?:[ \t]{0,8}+(?P<bar>\|)|(?P<tab>\t))[ \t]{0,24}+(?=[^\s|=])
    | :[ ]{0,4}(?P<below>\r?\n)[ \t]{1,24}+(?=[^\s:"'`]{6,256}+[ ]{0,4}(?:\r?\n|\Z))
    |
      [ \t]{0,24}+ (?P<block>:[ ]{0,4}[|>][+-]?[0-9]?[ ]{0,4}\r?\n[ \t]+)
    | [ \t]{0,24}+ (?:(?!:[ ]?(?![A-Z]?[a-z]+=)\w{8,40}={1,2}(?:[,.;)\]}<"'`]|\s(?!["'])|\Z))
        :[ ]?[\w.<>\[\]?|&*]{1,40}+(?:[ ]\|[ ]\w{1,20}+)?[ ]{0,4}|(?:string|String|str)[ ])?
      (?P<op>:{1,3}=|=>|\?\?=|\?=|\+=|\.=|\|\|=?|={1,3}|!==?|->|:|：|(?<=[ ])-(?=[ ]))
      [ \t]{0,24}+ (?:\r?\n[ \t]{1,24}+(?=["'`]))?
    | (?P<xml>>)\s{0,24}+
    | \s{0,4}+,?\s{0,24}+ (?P<pair>["']?[Vv]alue["']?[ ]?[:=][ ]?)
    | \s{0,4}+ (?P<comma>,)\s{0,24}+(?=[bru]?["'`])
    | (?P<call>\()\s{0,8}+(?=[bru]?["'`])
    )
    """,
    re.VERBOSE,
)
_SPACE_TAIL = lazy_pattern(
    r"(?P<rest>[\w.\-]{0,40}+)[\"'`]?[ ]{1,2}+(?P<verb>(?:is|was|to|as)(?: now)?:?[ \t]{1,4}+)?"
)
_QUOTED = lazy_pattern(
    r"[bru@$fF]{0,2}(?:\"\"\"(?P<a>[^\"\x00]{1,4096}+)\"\"\"|\"(?P<b>[^\"\n\x00]{1,4096}+)\""
    r"|'(?P<c>[^'\n\x00]{1,4096}+)'|`(?P<d>[^`\n\x00]{1,4096}+)`|“(?P<e>[^“”\n\x00]{1,4096}+)”)"
)
_OPEN_QUOTE = lazy_pattern(r"[bru@$fF]{0,2}[\"'`]")
_BARE = lazy_pattern(r"[^\s\"'`\x00]{1,4096}+")
_XML_TEXT = lazy_pattern(r"[^<>\x00]{1,4096}+(?=</)")
_PIECE = lazy_pattern(r"[^\s{}\"',;]{16,4096}+")
_SCHEME = lazy_pattern(r"(?:Bearer|Basic|Token|token|bearer|basic)[ ]+")
# Where a bare value ends although no white space follows.
_BARE_END = lazy_pattern(
    r"\\|;|&(?:amp;)?[\w.\[\]%-]{1,40}+=|&(?:quot|[lr][sd]quo|[lg]t|amp|nbsp|#\d{2,5})\b"
    r"|,(?=$|[\w.-]{1,40}+[=:])|</|\|\|?$|\]\]"
)
_NAME_CHARS: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.$")
_LINE_HEAD = lazy_pattern(
    r"[ \t]*(?:[-*][ ]+|export[ ]+|set[ ]+|ENV[ ]+|ARG[ ]+|//[ ]?|#[ ]?)?[\"']?(?:[\w.-]{1,24}[ ]){0,2}\Z"
)
_LINE_REST = lazy_pattern(r"[ \t]*(?:[#;].*|//.*)?(?:\r?\n|\Z)")
_CELL_END = lazy_pattern(r"[ \t]*\|")
_SHELL_NAME = lazy_pattern(r"[\w.]*[A-Z][A-Z0-9_.]*")
# A label and its value in a sentence or in settings: no code before it on the line, and the clause ends behind it.
_PLAIN_HEAD = lazy_pattern(r"[^(){}\[\]<>=;\"'`|\\$\n]*+\Z")
_CLAUSE_END = lazy_pattern(
    r"[*_`]{0,3}[.!]?[ \t]*(?:[#(].*)?(?:\r?\n(?![ \t]*[})\]])|\Z)"
    r"|[*_`]{0,3}(?:[.!][ ]|,[ ](?=[\w-]{1,24}[ ]?[:=])|[ ][(–-])"
)
_LABEL_OPS: Final = frozenset({":", "：", "->"})


class _Value(NamedTuple):
    start: int
    end: int
    style: Style


def find_assignments(
    text: str, lowered: str, *, kept_names: frozenset[str] = frozenset(), has_runs: bool = True
) -> Iterator[SecretSpan]:
    """Yield the values in `text` that stand beside a telling name; names in `kept_names` are left alone.

    `lowered` is `text` in lower case, of the same length. `has_runs` says whether `PROVIDER_KEY_LEAST` characters stand
    in a row anywhere: in most texts they do not, and no provider's name needs to be looked for.
    """
    seen_starts: set[int] = set()  # where values begin that are found already: SECRET_KEY has two key words
    names = (*PROVIDERS, *KEYWORDS) if has_runs else KEYWORDS
    for word in [name for name in names if name in lowered]:
        at = lowered.find(word)
        rejected = run_end = 0
        while at >= 0:
            end = at + len(word)
            assignment = _assignment(text, at, end, word, kept_names, seen_starts)
            if isinstance(assignment, SecretSpan):
                seen_starts.add(assignment.start)
                end = max(end, assignment.end)
                yield assignment
            elif assignment is not None:
                # Text without spaces, such as `key=key=key=`, would be judged from every key word to its end.
                rejected = rejected + 1 if at < run_end else 1
                run_end = max(run_end, assignment)
                end = run_end if rejected > RETRY_LIMIT else end
            at = lowered.find(word, end)
    yield from find_notations(text, lowered, kept_names=kept_names)


def _assignment(
    text: str, at: int, end: int, word: str, kept_names: frozenset[str], seen: set[int]
) -> SecretSpan | int | None:
    """Return the secret that is assigned to the name around the key word at `at`.

    Without a secret: where the value ends that was judged, or None when there was no value.
    """
    tail = _TAIL.match(text, end)
    value = None if tail is None else _value_after(text, tail)
    if tail is None or value is None:
        return None if word in _PROVIDER_SET else _after_space(text, at, end, kept_names, seen)
    if value.start in seen:
        return None
    head = _name_start(text, at)
    own_name = text[head:end] + tail["rest"].partition(" ")[0]
    if own_name.strip("$.-") in kept_names or (tail["comma"] and not tail["close"]):
        return None
    content = text[value.start : min(value.end, value.start + JUDGED_LIMIT)]
    if word in _PROVIDER_SET:
        rule = provider_rule(word, text[head:end] + tail["rest"], content)
        return value.end if rule is None else SecretSpan(rule, value.start, value.end, FROM_STRUCTURE)
    kind = classify_name(_words_before(text, head) + text[head:end] + tail["rest"].removesuffix(" is"))
    if kind is None:
        return None
    if kind is not NameClass.PASSWORD and text.startswith(("...", "\u2026"), value.end):
        return value.end  # the rest of a token was left out
    style = _style(text, head, own_name, tail, value)
    if style is Style.ARGUMENT and own_name.lower().startswith(_MAKERS):
        return value.end
    if style is Style.QUOTED and " " in content and tail["close"] and _is_sentence(text, head):
        return value.end  # messages by their English: $lang['generate random password'] = '…'
    if style is Style.LABEL and _words_before(text, head).strip().lower() in _ACTIONS:
        style = Style.LINE
    if accepts(kind, content, style=style, name=own_name):
        return SecretSpan(kind.value, value.start, value.end, FROM_NAME)
    if style is Style.QUOTED and kind is not NameClass.WEAK and " " in content:
        piece = _random_piece(text, value.start, value.end)
        return value.end if piece is None else SecretSpan(kind.value, *piece, FROM_NAME)
    return value.end


def _is_sentence(text: str, head: int) -> bool:
    """Tell whether the name at `head` ends a quoted text of three words or more."""
    opening = max(text.rfind(quote, max(0, head - 120), head) for quote in "\"'")
    return opening >= 0 and text.count(" ", opening, head) >= 2 and "\n" not in text[opening:head]


def _name_start(text: str, at: int) -> int:
    """Return where the identifier that holds position `at` begins, at most `NAME_LIMIT` characters before it."""
    lowest = max(0, at - NAME_LIMIT)
    while at > lowest and text[at - 1] in _NAME_CHARS:
        at -= 1
    return at


def _words_before(text: str, head: int) -> str:
    """Return the word before the name on its line, for `api key: …`; an empty text when there is none."""
    window = text[max(0, head - 24) : head]
    if not window.endswith(" ") or window.endswith("  "):
        return ""
    word = window[:-1].rsplit(None, 1)[-1:]
    return f"{word[0]} " if word and word[0].isalpha() else ""


def _value_after(text: str, tail: re.Match[str]) -> _Value | None:
    """Return where the value after an operator is and how it is written."""
    at = tail.end()
    if tail["xml"]:
        inner = _XML_TEXT.match(text, at)
        return None if inner is None else _Value(*_stripped(text, *inner.span()), Style.QUOTED)
    quoted = _QUOTED.match(text, at)
    if quoted is not None:
        start, end = quoted.span(quoted.lastgroup or 0)
        start, end = _stripped(text, start, end)
        scheme = _SCHEME.match(text, start, end)
        return _Value(scheme.end() if scheme else start, end, Style.QUOTED)
    opening = _OPEN_QUOTE.match(text, at)
    bare = _BARE.match(text, opening.end() if opening else at)
    if bare is None:
        return None
    if (scheme := _SCHEME.match(text, bare.start())) is not None:
        bare = _BARE.match(text, scheme.end()) or bare
    return _Value(*_trimmed(bare), Style.QUOTED if opening else Style.LOOSE)


def _stripped(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the span without the white space at its ends."""
    content = text[start:end]
    return start + len(content) - len(content.lstrip()), start + len(content.rstrip())


def _random_piece(text: str, start: int, end: int) -> tuple[int, int] | None:
    """Return the span of the word inside a quoted sentence that a machine made, as in `"ApiKey 8fJ…"`."""
    for piece in _PIECE.finditer(text, start, min(end, start + JUDGED_LIMIT)):
        if looks_random(piece[0][:JUDGED_LIMIT]):
            return piece.span()
    return None


def _trimmed(bare: re.Match[str]) -> tuple[int, int]:
    """Return the span of a bare value without what the surrounding syntax put behind it."""
    start, end = bare.span()
    content = bare[0]
    cut = _BARE_END.search(content)
    if cut is not None:
        content = content[: cut.start()]
    stripped = content.rstrip(".,;:>")
    for opening, closing in ("()", "[]", "{}"):
        while stripped.endswith(closing) and stripped.count(closing) > stripped.count(opening):
            stripped = stripped[:-1].rstrip(".,;:")
    return start, min(end, start + len(stripped))


def _style(text: str, head: int, name: str, tail: re.Match[str], value: _Value) -> Style:
    """Return how the assignment is written; the looser, the more the value must show by itself."""
    if tail["call"] or tail["comma"]:
        return Style.ARGUMENT
    if value.style is Style.QUOTED or tail["pair"] or tail["block"]:
        return Style.QUOTED
    if tail["mark"] or tail["cell"] or (tail["bar"] and _CELL_END.match(text, value.end)):
        return Style.LABEL if tail["mark"] and _CLAUSE_END.match(text, value.end) else Style.LINE
    if name.startswith("--") and tail["op"] == "=":
        return Style.SHELL
    if tail["op"] == "=" and text[head - 1 : head] in ("?", "&", ";") and head > 0:
        return Style.FLAG
    if _SHELL_NAME.fullmatch(name) and tail["op"] == "=" and text[tail.end() - 1] == "=":
        return Style.SHELL
    if _is_label(text, head, tail, value):
        return Style.LABEL
    line_start = text.rfind("\n", max(0, head - 80), head) + 1
    begins = head - line_start < 80 and _LINE_HEAD.fullmatch(text, line_start, head) is not None
    is_separator = tail["tab"] or tail["op"] in (":", "：", "=", "-")
    if begins and is_separator and _LINE_REST.match(text, value.end):
        return Style.LINE
    return Style.LOOSE


def _is_label(text: str, head: int, tail: re.Match[str], value: _Value) -> bool:
    """Tell whether the name labels the value in plain text: `admin password: x`, `password=x` at the margin."""
    line_start = text.rfind("\n", max(0, head - 160), head) + 1
    is_spaced = tail["op"] in _LABEL_OPS and text[tail.end() - 1] in " \t："
    plain = is_spaced and head - line_start < 160 and _PLAIN_HEAD.match(text, line_start, head) is not None
    setting = tail["op"] == "=" and line_start == head
    return (plain or setting) and _CLAUSE_END.match(text, value.end) is not None


def _after_space(
    text: str, at: int, end: int, kept_names: frozenset[str], seen: set[int]
) -> SecretSpan | int | None:
    """Return the value after a flag (`--password x`) or in a sentence (`the password is x`)."""
    tail = _SPACE_TAIL.match(text, end)
    if tail is None:
        return None
    quoted = _QUOTED.match(text, tail.end())
    bare = None if quoted is not None else _BARE.match(text, tail.end())
    if quoted is not None:
        start, stop = quoted.span(quoted.lastgroup or 0)
    elif bare is not None:
        start, stop = _trimmed(bare)
    else:
        return None
    head = _name_start(text, at)
    name = text[head:end] + tail["rest"]
    flag = name.startswith("--") and not tail["verb"]
    if (flag and text.startswith("-", tail.end())) or name.lower().startswith(_MAKERS):
        return None
    provider = _words_before(text, head).strip().lower()
    if provider in _PROVIDER_SET and start not in seen:
        rule = provider_rule(provider, f"{provider}_{name}", text[start : min(stop, start + JUDGED_LIMIT)])
        if rule is not None:
            return SecretSpan(rule, start, stop, FROM_STRUCTURE)
    if name.lower() in ("pass", "key") and not (tail["verb"] or "").startswith(("is", "was")):
        return None
    is_quoted = quoted is not None and (tail["verb"] or "").startswith(("is", "was"))
    style = Style.FLAG if flag else Style.QUOTED if is_quoted else Style.PROSE
    kind = None if name in kept_names or start in seen else classify_name(_words_before(text, head) + name)
    if kind is None:
        return None
    content = text[start : min(stop, start + JUDGED_LIMIT)]
    words_in_quotes = is_quoted and kind is NameClass.PASSWORD and " " in content and is_word_value(content)
    if words_in_quotes or accepts(kind, content, style=style, name=name):
        return SecretSpan(kind.value, start, stop, FROM_NAME)
    return stop
