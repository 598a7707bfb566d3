"""What a name says about the value beside it: `DB_PASSWORD`, `apiKey` and `x-auth-token` announce a secret."""

from __future__ import annotations

from enum import Enum
from typing import Final

from hexad.redaction.secrets.values import words_of


class NameClass(Enum):
    """How a value must look beside a name of this class to be taken for a secret."""

    PASSWORD = "password"  # chosen by a person: little is needed
    SECRET = "secret"  # chosen or generated
    TOKEN = "token"  # generated
    KEY = "api-key"  # generated
    WEAK = "key"  # often no secret at all: only long random values count


KEYWORDS: Final = (
    "pass",
    "pw",
    "pswd",
    "secret",
    "token",
    "key",
    "credential",
    "creds",
    "auth",
    "jwt",
    "bearer",
    "cookie",
    "sig",
    "kennwort",
    "wachtwoord",
    "contrase",
    "senha",
    "парол",
    "密码",
    "密碼",
    "パスワード",
    "비밀번호",
)
"""Every name that `classify_name` accepts contains one of these, in lower case."""

_PASSWORD_PARTS: Final = (
    "password",
    "passwd",
    "passphrase",
    "passcode",
    "passwrd",
    "passwort",
    "kennwort",
    "wachtwoord",
)
_OTHER_SCRIPTS: Final = ("парол", "密码", "密碼", "パスワード", "비밀번호")
_PASSWORD_WORDS: Final = frozenset({"pw", "pwd", "pswd", "pass", "psw", "passe", "contrase", "senha"})
_TOKEN_WORDS: Final = frozenset({"jwt", "bearer", "credential", "credentials", "creds", "cred"})
_KEY_JOINED: Final = (
    "apikey",
    "accesskey",
    "authkey",
    "secretkey",
    "appkey",
    "privatekey",
    "encryptionkey",
    "signingkey",
)
_WEAK_WORDS: Final = frozenset(
    {"key", "auth", "authorization", "sig", "signature", "cookie", "cookies", "sessionkey"}
)
_KEY_QUALIFIERS: Final = frozenset(
    """
    access account admin aes api app application auth authorization client consumer crypto customer
    decrypt decryption deploy developer encrypt encryption hmac integration jwt license licence live
    management master maps private project provisioning rest runtime sas secret sending server
    service session shared sign signing ssh sse storage stream subscription test user webhook wep
    wpa write
    """.split()
)

_GENERATED: Final = (NameClass.TOKEN, NameClass.KEY, NameClass.WEAK)

# Words that make a name speak about a secret instead of naming one.
_STOP: Final = frozenset(
    """
    age alg algorithm algo alias arg argument arn array attempt attempts attr attribute audience
    author authority autocomplete bits box bucket button bytes cache callback change changed charset
    charsets chars check checker class code codec column columns command config configs constructor
    context count counter created criteria csv date days decoder desc description digest dir
    directory email empty enabled encoder encoding endpoint endpoints entropy enum equals err error
    errors event exists expiration expired expires expiry exp factory field fields file filename
    files filter fingerprint flag flow folder font forgot format func function generator grammar
    group handler hash hashed hasher hashes hashing header headers help hint host icon id ids image
    index info input invalid is issuer iter iterations kind label language last len length lexer
    lifetime limit link list loc location lookup manager map max md5 mechanism message messages
    method methods min minlength maxlength missing mode model modified module msg name names
    namespace needed node num number numbers offset op option options order page pages param
    parameter params parser path pattern patterns perms permission placeholder plugin policies
    policy pos position prefix price prompt property protocol provider providers purpose quota rate
    ref refs regex regexp registry rejected repository required requirements reset resource result
    retries review ring role rotation route rule rules salt schema scope scopes score selector
    separator server sequence service sha1 sha256 sha512 shape show since size sizes source spec
    split start state stats status stop storage store stream strength strategy style subject suffix
    table tag template text time timeout timestamp title ttl type types uid unit until updated uri
    url urls usage used user username uses uuid valid validate validation validator verification
    verified verifier verify version view visible width with
    """.split()
)
_HASHED: Final = frozenset({"hash", "hashed", "digest", "checksum", "sha1", "md5"})
_STOP_BEFORE_KEY: Final = frozenset(
    """
    arrow bucket cache column composite compose dedup dict dictionary down enter escape event fact
    field foreign function group hash hot human idempotency idempotent idx index item job json
    keyboard leaf lookup map message meta modifier natural object order parent partition physical
    press pressed primary proto pub public question redis registry related return right routing row
    s3 scan shift short sort sorting source space storage_cache store surrogate tab tag target
    unique up yaml
    """.split()
)
_STOP_BEFORE_TOKEN: Final = frozenset(
    """
    antlr bos call cancel cancellation class cls completion continuation continue current cursor eof
    eol eos expected first from input invalid lex lexer mask max min next num number output pad page
    pagination parser per prev previous prompt resume sep skip special start stop syntax sync total
    unexpected unk used
    """.split()
)


def classify_name(name: str) -> NameClass | None:
    """Return what `name` announces, or None when it announces no secret.

    >>> classify_name("DB_PASSWORD"), classify_name("password_min_length"), classify_name("author")
    (<NameClass.PASSWORD: 'password'>, None, None)
    """
    words = words_of(name)
    if not _HASHED.isdisjoint(words):
        return None
    if not name.isascii() and not words and any(word in name.lower() for word in _OTHER_SCRIPTS):
        return NameClass.PASSWORD
    public = "public" in words or "pub" in words
    for at in range(len(words) - 1, -1, -1):
        name_class = _classify_word(words, at)
        if name_class is not None:
            stopped = any(word in _STOP for word in words[at + 1 :])
            return None if stopped or (public and name_class in _GENERATED) else name_class
    return None


def _classify_word(words: list[str], at: int) -> NameClass | None:
    """Return what the word at index `at` announces among its neighbours."""
    word = words[at]
    before = words[at - 1] if at else ""
    if word in _PASSWORD_WORDS or any(part in word for part in _PASSWORD_PARTS):
        plural = word.endswith("words") or word.endswith("phrases")
        return None if plural or before in ("no", "without") else NameClass.PASSWORD
    if "secret" in word and word not in ("secretary", "secretly", "secretariat", "secrets"):
        return NameClass.SECRET
    if word.endswith("token"):
        return None if before in _STOP_BEFORE_TOKEN else NameClass.TOKEN
    if word in _TOKEN_WORDS:
        return NameClass.TOKEN
    if word.endswith(_KEY_JOINED):
        return NameClass.KEY
    if word == "key" and before in _KEY_QUALIFIERS:
        return NameClass.KEY
    if word in _WEAK_WORDS or (word.endswith("key") and len(word) > 6):
        return None if before in _STOP_BEFORE_KEY else NameClass.WEAK
    return None
