"""Keys without a prefix of their own: what a provider's name must stand beside.

Each line of `_TABLE` is `name format …`; names that belong together are joined by `|`. A format is an alphabet and a
length (`h32` for 32 hexadecimal characters, `e40-46` for a range), `uuid`, or literal text around slots in `<>`.
Lengths and alphabets are facts published by the providers; most are in the rule list of the gitleaks project
(config/gitleaks.toml, 2026). The patterns are built here.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from hexad.redaction.secrets import values
from hexad.redaction.secrets.templates import compile_template
from hexad.redaction.secrets.values import words_of

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
        values.looks_random(value, min_chars=14) or values.is_uuid(value) or values.is_hex_digest(value)
    )
    if not machine_made or values.is_filler(value):
        return None
    return _rows()[provider][0]
