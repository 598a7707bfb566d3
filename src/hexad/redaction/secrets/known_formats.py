"""Credentials that their own shape gives away: a table of templates, compiled on first use.

Each line of `_TABLE` is `rule template`, in the notation of `compile_template`. A trailing `?` means that the prefix
alone is weak, so the value must also look machine-made.

Prefixes, lengths and alphabets are facts published by the providers; most can be checked against the rule list of
the gitleaks project (config/gitleaks.toml, 2026), the rest against the providers' own documentation. The patterns
are built here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Final

from hexad.redaction.secrets import values
from hexad.redaction.secrets.values import FROM_SHAPE, SecretSpan

OPEN_SLOT_LIMIT: Final = 4096
"""The longest match of an open slot, in characters."""

_ALPHABETS: Final = {
    "d": "0-9",
    "h": "0-9a-f",
    "H": "0-9A-Fa-f",
    "l": "a-z0-9",
    "u": "A-Z0-9",
    "a": "A-Za-z0-9",
    "z": "A-Za-z",
    "w": "A-Za-z0-9_-",
    "b": "A-Za-z0-9+/",
    "e": "A-Za-z0-9_=-",
    "p": "A-Za-z0-9_.=-",
    "q": "A-Za-z0-9_.~-",
    "s": "A-Za-z0-9+/=_-",
    "t": "A-Za-z0-9%",
    "c": "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",  # Bech32, of age keys
}
_UUID = "[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}"
_SLOT = re.compile(r"<uuid>|<([a-zA-Z]):(\d+)(?:-(\d+)|(\+))?>")
_BARE = re.compile(r"[a-zA-Z]\d+(?:-\d+)?")
_CHOICE = re.compile(r"\{([^{}]*\|[^{}]*)\}")


def expand_choices(template: str) -> Iterator[str]:
    """Yield `template` once for every combination of its `{a|b}` choices.

    >>> list(expand_choices("{sk|rk}_live_<a:10+>"))
    ['sk_live_<a:10+>', 'rk_live_<a:10+>']
    """
    choice = _CHOICE.search(template)
    if choice is None:
        yield template
        return
    for text in choice[1].split("|"):
        yield from expand_choices(template[: choice.start()] + text + template[choice.end() :])


def literal_head(template: str) -> str:
    """Return the literal text before the first slot of `template`."""
    slot = _SLOT.search(template)
    return template if slot is None else template[: slot.start()]


def compile_template(template: str, *, ignore_case: bool = False) -> re.Pattern[str]:
    """Return the expression for `template`; a closed last slot must not be followed by a letter or a digit."""
    if template == "uuid":
        template = "<uuid>"
    elif _BARE.fullmatch(template):
        template = f"<{template[0]}:{template[1:]}>"
    parts = []
    at = 0
    for slot in _SLOT.finditer(template):
        parts += [re.escape(template[at : slot.start()]), _slot_pattern(slot)]
        at = slot.end()
    parts.append(re.escape(template[at:]))
    if not template.endswith("+>"):
        parts.append("(?![A-Za-z0-9])")
    return re.compile("".join(parts), re.IGNORECASE if ignore_case else 0)


def _slot_pattern(slot: re.Match[str]) -> str:
    if slot[0] == "<uuid>":
        return _UUID
    alphabet, low, high, open_end = slot.groups()
    most = OPEN_SLOT_LIMIT if open_end else high or low
    return f"[{_ALPHABETS[alphabet]}]{{{low},{most}}}"


_TABLE: Final = """
1password-secret-key A3-<u:6>-{<u:11>|<u:6>-<u:5>}-<u:5>-<u:5>-<u:5>
1password-service-token ops_eyJ<s:40+>
adafruit-key aio_<a:28>
adobe-client-secret p8-<w:32>?
adobe-client-secret p8e-<w:32>
age-secret-key AGE-SECRET-KEY-1<c:58>
airtable-token pat<a:14>.<h:64>
alibaba-access-key-id LTAI<a:12-24>
amazon-mws-token amzn.mws.<uuid>
amazon-oauth-secret amzn1.oa2-cs.v1.<h:64>
anthropic-api-key sk-ant-<w:20+>
apify-token apify_api_<a:34-40>
artifactory-token {AKCp<a:69>|cmVmd<a:59>}
asana-token {1|2}/<d:13-17>{:|/<d:13-17>:}<h:32>
atlassian-api-token {ATATT3|ATCTT3|ATSTT3}<e:60+>
authress-access-key {sc|ext|scauth|authress}_<a:5-30>.<a:4-6>.acc{_|-}<w:10-32>.<s:30-120>
aws-access-key-id {AKIA|ASIA|ABIA|ACCA}<u:16>
aws-access-key-id A3T<u:17>?
aws-bedrock-api-key {ABSK<b:100+>|bedrock-api-key-<s:28+>}
aws-appsync-key da2-<l:26>
aws-session-token {FwoGZXIvYXdz|IQoJb3JpZ2lu}<s:80+>
axiom-token {xaat|xapt}-<uuid>
baidu-access-key ALTAK-<a:21>
beamer-api-token b_<e:44>?
bitbucket-app-password ATBB<a:24+>
brevo-api-key {xkeysib|xsmtpsib}-<h:64>-<a:16>
buildkite-token {bkua_<l:40>|bkct_<a:30+>}
cerebras-api-key csk-<l:40+>
circleci-token {CCIPAT|CCIPRJ}_<a:20-24>_<l:40>
clickhouse-cloud-secret 4b1d<a:38>
clickup-token pk_<d:6-10>_<u:32>
clojars-token CLOJARS_<a:60>
cloudflare-origin-ca-key v1.0-<h:24>-<h:146>
contentful-token CFPAT-<w:40+>
crates-io-token cio<a:32>?
databricks-token dapi<h:32>
dbt-token {dbtc|dbtu}_<w:30+>
defined-networking-token dnkey-<e:26>-<e:52>
deno-token {ddp|ddw|ddo}_<a:36>
dependency-track-key odt_<a:32-40>
dependency-track-key odt_<a:8>_<a:32>
digitalocean-token {dop|doo|dor}_v1_<h:64>
discord-token {MT|Mj|Mz|ND|NT|Nj|Nz|OD|OT}<w:20-26>.<w:6>.<w:27-40>
discord-webhook {discord|discordapp}.com/api/webhooks/<d:15-22>/<w:50+>
docker-token {dckr_pat|dckr_oat}_<w:24+>
doppler-token dp.{pt|st|ct|sa|scim|audit}.<a:40-44>
doppler-token dp.st.<w:2-35>.<a:40-44>
dropbox-token sl.{|u.}<e:130+>
duffel-token duffel_{test|live}_<e:43>
dynatrace-token {dt0c01|dt0s01}.<a:24>.<a:64>
easypost-api-key {EZAK|EZTK}<a:54>
elevenlabs-api-key sk_<h:48>
endorlabs-key endr+<a:16>
figma-token figd_<w:40+>
firecrawl-key fc-<h:32>
fireworks-api-key fw_<a:22-40>?
flexport-token shltm_<w:38-42>
flutterwave-key FLWSECK_TEST-<a:12>
flutterwave-key {FLWSECK|FLWSECK_TEST|FLWPUBK_TEST}-<a:32>-X
flyio-token {fo1_<w:43>|fm1a_<b:100+>|fm1r_<b:100+>|fm2_<b:100+>}
frameio-token fio-u-<e:64>
fullstory-key {na1|eu1}.<b:60+>
gitea-token gta_<h:40>
github-fine-grained-token github_pat_<w:60+>
github-token {ghp|gho|ghu|ghs|ghr}_<a:36+>
github-token ghs_<d:1-12>_ey<w:10+>.<w:10+>.<w:10+>
gitlab-session-cookie _gitlab_session=<l:32>
gitlab-token {glpat|glrt}-<p:20+>
gitlab-token {gldt|glrtr|glwt|glft|glffct|glsoat}-<w:20+>
gitlab-token {glimt-<w:25+>|glagent-<w:50+>|gloas-<w:64+>|glptt-<h:40>|glcbt-<a:1-5>_<w:20+>|GR1348941<w:20+>}
gocardless-token live_<e:40>?
google-api-key AIza<w:35>
google-api-key AQ.Ab8<w:30+>
google-oauth-secret GOCSPX-<w:24-36>
google-oauth-token {ya29.<w:24+>|1//0<w:36+>}
grafana-token {glsa_<a:32>_<H:8>|glc_<s:32+>|eyJrIjoi<s:60+>}
groq-api-key gsk_<a:40+>
harness-token {pat|sat}.<w:22>.<a:24>.<a:20>
hawk-key hawk.<w:20>.<w:20>
helicone-key {sk|pk}-helicone-<l:7>-<l:7>-<l:7>-<l:7>
heroku-api-key HRKU-{AA<w:58>|<uuid>}
honeycomb-key {hcaik|hcxik}_<a:50+>
hubspot-token pat-{na1|na2|eu1|ap1}-<uuid>
huggingface-token {hf|api_org}_<z:34>
huggingface-token hf_<a:30-40>?
intra42-secret s-s4t2{ud|af}-<h:64>
ionic-token ion_<a:40-46>
jina-api-key jina_<w:50-70>
langfuse-key sk-lf-<uuid>
langsmith-key lsv2_{pt|sk}_<h:32>_<h:10>
launchdarkly-key {sdk|mob|api|launchdarkly-private|launchdarkly-secret}-<uuid>
linear-api-key {lin_api|lin_oauth}_<a:40+>
mailchimp-api-key <h:32>-us<d:1-2>
mailersend-token mlsn.<h:64>
mailgun-key {key|pubkey}-<h:32>
mapbox-token {pk|sk}.<a:60>.<a:22>
mapbox-token {pk|sk|tk}.eyJ<w:50+>.<w:20-24>
maxmind-license-key <a:6>_<a:29>_mmk
mercadopago-token APP_USR-<d:12-20>-<d:6>-<h:32>-<d:6-12>
mongodb-service-account mdb_sa_sk_<w:40>
n8n-api-key n8n_api_<h:40+>
neon-api-key napi_<l:60-68>
netlify-token nfp_<a:36>
new-relic-key {NRAK-<a:27>|NRAA-<h:27>|NRII-<w:32>|NRIQ-<w:32>|NRRA-<h:42>|NRJS-<h:19>}
notion-token {ntn_<d:11><a:35>|secret_<a:43>}
npm-token npm_<a:36>
nuget-api-key oy2<l:43>
nvidia-api-key nvapi-<w:60+>
octopus-api-key API-<u:25-27>?
onesignal-key os_v2_{app|org}_<l:90+>
openai-api-key sk-{proj|svcacct|admin|None}-<w:20+>
openai-api-key sk-<w:16+>?
openai-api-key sess-<a:40>
openrouter-api-key sk-or-v1-<h:64>
openshift-token sha256~<w:43>
packagist-token {packagist_uut|packagist_oot}_<h:64>
pagarme-key ak_{live|test}_<a:30>
paypal-token access_token$production$<l:16>$<h:32>
perplexity-api-key pplx-<a:40+>
pinecone-api-key pcsk_<w:50+>
plaid-token access-{sandbox|development|production}-<uuid>
planetscale-token pscale_{tkn|oauth|pw}_<p:32-64>
polar-token polar_{oat|pat|at_u|at_o|rt}_<a:32+>
posthog-key phx_<a:40+>
postman-api-key PMAK-<H:24>-<H:34>
postman-collection-key PMAT-<u:26>
prefect-token {pnu|pnb}_<a:36>
pubnub-secret sec-c-<a:40+>
pulumi-token pul-<h:40>
pypi-token pypi-AgE<w:50+>
rancher-token token-<l:5>:<l:54>
razorpay-key rzp_{live|test}_<a:14>
readme-token rdme_<l:70>
render-api-key rnd_<a:28-40>
replicate-token r8_<a:37>
resend-api-key re_<a:8>_<a:22-26>?
rubygems-token rubygems_<h:48>
runpod-key rpa_<u:40-46>
salesforce-token 00D<a:12-15>!<q:80+>
scalingo-token tk-us-<w:48>
sendgrid-api-key SG.{<e:16-32>.<e:30-64>|<p:66>}
sentry-token {sntrys_eyJ<s:60+>|sntryu_<h:64>}
settlemint-token {sm_aat|sm_pat|sm_sat}_<a:16>
shippo-token shippo_{live|test}_<H:40>
shopify-token {shpat|shpca|shppa|shpss}_<a:32+>
slack-token {xoxb|xoxp|xoxe|xoxo|xoxs|xoxc}-<a:6-16>-<w:12+>
slack-token {xoxa|xoxr}-{|<d:1>-}<a:8+>
slack-token {xoxe.xoxb|xoxe.xoxp}-<d:1>-<a:60+>
slack-token xoxd-<t:20+>
slack-token xapp-<d:1>-<u:5-20>-<d:5-20>-<a:5-128>
slack-webhook hooks.slack.com/{services|workflows|triggers}/<s:38-90>
snyk-token snyk_{uat|sat}.<h:8>.<q:40+>
sonar-token {squ|sqp|sqa}_<h:40>
sourcegraph-token sgp_{|local_|<H:16>_}<H:40>
sourcegraph-license-key slk_<h:64>
square-token {sq0atp|sq0csp}-<w:22-60>
square-token EAAA<w:22-62>?
stripe-key {sk|rk}_{live|test|prod}_<a:10+>
stripe-webhook-secret whsec_<s:24+>
stytch-secret secret-{live|test}-<e:36-48>
supabase-token {sbp_<h:40>|sb_secret_<w:20+>}
svix-key {testsk|sk}_<a:32>.{us|eu}
tailscale-key tskey-{<a:16+>|<z:3-8>-<a:8-40>-<a:20+>}
tavily-api-key tvly-<w:24+>
teams-webhook webhook.office.com/webhookb2/<uuid>@<uuid>/IncomingWebhook/<l:32>/<uuid>
teams-webhook {outlook.|}office.com/webhook/<uuid>@<uuid>/IncomingWebhook/<l:32>/<uuid>
tencent-secret-id AKID<a:32>
terraform-cloud-token <a:14>.atlasv1.<e:60-70>
thunderstore-token tss_<a:36>
together-key tgp_v1_<w:40+>
trello-token ATTA<h:64>
twilio-api-key SK<H:32>
twitter-bearer-token AAAAAAAAAAAAAAAAAAAA<t:60+>
typeform-token tfp_<p:40-70>
ubidots-token BBFF-<a:30>
vault-token {hvs|hvr}.<w:24+>
vault-token hvb.<w:36+>
vault-token s.<a:24>?
vercel-token vcp_<a:24+>
voiceflow-key VF.{|DM.|WS.}<H:24>.<a:16>
volcengine-key AKLT<a:40+>
voyage-api-key pa-<w:43>?
weaviate-key WCS-<a:40+>
xai-api-key xai-<a:60+>
xata-key xau_<a:40>
yandex-key {AQVN<w:35-38>|YCAJE<w:20+>|t1.<e:6+>.<e:86-88>}
yandex-key YC<w:38>?
zoho-token 1000.<h:32>.<h:32>
zuplo-key zpka_<h:32>_<h:8>
azure-client-secret <q:3><d:1>Q~<q:31-34>
azure-ai-key <a:52>JQQJ9<a:27>
azure-devops-token <a:76>AZDO<a:4>
azure-key <b:76>{APIM|ACDb|+ASt|+ABa|+AMC}<b:6>==
azure-key <b:33>{AzCa|AIoT|+ASb|+AEh|+ARm|AZEG}<b:6>=
azure-key <b:44>AzFu<b:6>==
azure-key <b:42>{AzSe<b:6>|+ACR<b:6>}
new-relic-license-key <a:36>NRAL
telegram-bot-token <d:8-10>:AA<w:32-33>
facebook-app-token <d:15-16>|<w:27-40>
"""

# Tokens whose parts the notation cannot say. A JSON Web Token is three or (encrypted) five parts; the third may be
# empty. A possessive part cannot be given back, so a run of letters without the dot fails at once.
_SPECIAL: Final = (
    # What a store's own key files say, wherever somebody copied them to.
    *(
        ("hexad-key", name, rf"{name}\\?[\"']?[ \t]*[:=][ \t]*\\?[\"']?[0-9a-fA-F]{{64}}(?![0-9a-zA-Z])")
        for name in ("wrapping_key", "signing_seed", "redaction_salt")
    ),
    (
        "jwt",
        "ey",
        r"(?<![-_])ey[A-Za-z0-9_-]{15,4096}+\.ey[A-Za-z0-9_-]{10,16384}+(?:\.[A-Za-z0-9_-]{0,4096}+)?",
    ),
    ("jwt", "eyJ", r"(?<![-_])eyJ[A-Za-z0-9_-]{12,4096}+(?:\.[A-Za-z0-9_-]{0,16384}+){4}"),
    ("infracost-token", "ico-", r"(?<!\.)ico-[A-Za-z0-9]{32}(?![A-Za-z0-9])"),  # not x.ico-<hash>.png
    ("facebook-token", "EAACEdEose0cBA", r"EAACEdEose0cBA[A-Za-z0-9]{20,512}+"),
    ("facebook-token", "EAA", r"(?<![/+])EAA[A-Za-z0-9]{80,512}+(?![/+=])"),  # not inside base 64
    ("jwt-base64", "ZXlK", r"(?<![-_/+])ZXlK[A-Za-z0-9+/_-]{60,16384}+={0,2}"),
)
_RUN: Final = re.compile(r"\S{13}")
"""What every template holds; a text without it is not looked at."""
_LONG_RUN: Final = re.compile(r"\S{36}")
"""What every template without a head holds."""
_MASK: Final = re.compile(r"[_.-]?(?:\.{3}|\u2026|\*{3}|#{3})")
"""What stands behind the beginning of a token whose rest somebody left out."""
_RETRY_LIMIT: Final = 8
"""How many rejected starts inside one run of characters are looked at before the run is skipped."""


@dataclass(frozen=True, slots=True)
class _Shape:
    rule: str
    head: str
    source: str
    weak: bool
    special: bool = False

    def match(self, text: str, at: int) -> re.Match[str] | None:
        return _compiled(self.source, self.special).match(text, at)

    def accepts(self, value: str) -> bool:
        body = value[len(self.head) :]
        if len(set(body[:128])) <= (4 if body.isdigit() and len(body) >= 16 else 2):
            return False  # one or two characters, or a few digits, again and again
        if self.special:
            return True
        if self.weak and not values.looks_random(body[:128], min_chars=12):
            return False
        return not values.is_token_filler(body)


@cache
def _compiled(source: str, special: bool) -> re.Pattern[str]:
    return re.compile(source) if special else compile_template(source)


@cache
def _shapes() -> tuple[_Shape, ...]:
    shapes = [_Shape(rule, head, source, False, True) for rule, head, source in _SPECIAL]
    for line in _TABLE.strip().splitlines():
        rule, form = line.split()
        for template in expand_choices(form.rstrip("?")):
            shapes.append(_Shape(rule, literal_head(template), template, form.endswith("?")))
    return tuple(shapes)


@cache
def _scanner() -> tuple[re.Pattern[str], dict[str, tuple[_Shape, ...]]]:
    """Return an expression for all heads at once, and the shapes to try after each head, longest head first."""
    by_own_head: dict[str, list[_Shape]] = {}
    for shape in _shapes():
        if shape.head:
            by_own_head.setdefault(shape.head, []).append(shape)
    by_head = {
        head: tuple(shape for size in range(len(head), 0, -1) for shape in by_own_head.get(head[:size], ()))
        for head in by_own_head
    }
    return re.compile("(?<![A-Za-z0-9])" + alternatives(list(by_head))), by_head


def alternatives(words: list[str]) -> str:
    """Return an expression for the longest of `words` at a place, as a tree of prefixes: few steps per character."""
    by_first: dict[str, list[str]] = {}
    for word in words:
        if word:
            by_first.setdefault(word[0], []).append(word[1:])
    branches = [re.escape(first) + alternatives(rest) for first, rest in sorted(by_first.items())]
    if not branches:
        return ""
    return f"(?:{'|'.join(branches)})" + ("?" if "" in words else "")


def find_shapes(text: str) -> Iterator[SecretSpan]:
    """Yield every token in `text` that one of the templates describes."""
    if _RUN.search(text) is None:
        return
    scanner, by_head = _scanner()
    at = rejected = run_end = 0
    while (hit := scanner.search(text, at)) is not None:
        start, at = hit.start(), hit.start() + 1
        for shape in by_head[hit[0]]:
            match = shape.match(text, start)
            if match is None:
                continue
            if shape.accepts(match[0]) and _MASK.match(text, match.end()) is None:
                yield SecretSpan(shape.rule, start, match.end(), FROM_SHAPE)
                at = match.end()
                break
            rejected = rejected + 1 if start < run_end else 1
            run_end = max(run_end, match.end())
            if rejected > _RETRY_LIMIT:
                at = run_end
    if _LONG_RUN.search(text) is not None:
        yield from _find_headless(text)


@cache
def _headless() -> tuple[tuple[str, int, int, _Shape], ...]:
    """Return (anchor, fewest and most characters before it, shape) for the shapes that begin with a slot."""
    anchors = (
        ("-us", 32, 32),
        ("_mmk", 36, 36),
        (".atlasv1.", 14, 14),
        ("Q~", 4, 4),
        ("JQQJ9", 52, 52),
        ("AZDO", 76, 76),
        *((mark, 76, 76) for mark in ("APIM", "ACDb", "+ASt", "+ABa", "+AMC")),
        *((mark, 33, 33) for mark in ("AzCa", "AIoT", "+ASb", "+AEh", "+ARm", "AZEG")),
        ("AzFu", 44, 44),
        *((mark, 42, 42) for mark in ("AzSe", "+ACR")),
        ("NRAL", 36, 36),
        (":AA", 8, 10),
        ("|", 15, 16),
    )
    shapes = [shape for shape in _shapes() if not shape.head]
    return tuple(
        (anchor, fewest, most, next(shape for shape in shapes if anchor in shape.source))
        for anchor, fewest, most in anchors
    )


def _find_headless(text: str) -> Iterator[SecretSpan]:
    for anchor, fewest, most, shape in _headless():
        at = text.find(anchor)
        while at >= 0:
            for start in range(max(0, at - most), at - fewest + 1):
                if start and text[start - 1].isalnum() and text[start - 1].isascii():
                    continue
                match = shape.match(text, start)
                if match is not None and shape.accepts(match[0]):
                    yield SecretSpan(shape.rule, start, match.end(), FROM_SHAPE)
            at = text.find(anchor, at + 1)
