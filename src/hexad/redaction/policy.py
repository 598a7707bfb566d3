"""Which rules a project and its spaces have switched on: parsed once, at the edge.

The setting `[privacy] pii` of a project says what is taken out everywhere; the policy field `pii_redaction` of a space
can ask for more, never for less.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from hexad.errors import InvalidInput
from hexad.redaction.linear_pattern import PATTERN_LIMIT, LinearPattern, UnusablePattern, linear_pattern
from hexad.redaction.personal_data import DETECTORS
from hexad.redaction.pii_setting import Pii, parse_pii

PATTERNS_LIMIT: Final = 50
"""Most regular expressions in one policy."""

SENSITIVE: Final = frozenset({"card", "iban", "ssn"})
"""What its check digits or its structure prove to be somebody's: taken out unless a project says otherwise."""
_PII: Final = {Pii.SENSITIVE: SENSITIVE, Pii.ALL: frozenset(DETECTORS), Pii.KEEP: frozenset[str]()}

GROUPS: Final[dict[str, frozenset[str]]] = {
    "all": frozenset(DETECTORS),
    "pii": frozenset(DETECTORS),
    "emails": frozenset({"email"}),
    "phones": frozenset({"phone"}),
    "cards": frozenset({"card"}),
    "credit_cards": frozenset({"card"}),
    "ibans": frozenset({"iban"}),
    "ssns": frozenset({"ssn"}),
    "ip": frozenset({"ipv4", "ipv6"}),
    "ips": frozenset({"ipv4", "ipv6"}),
    "financial": frozenset({"card", "iban"}),
    "sensitive": SENSITIVE,
    "contact": frozenset({"email", "phone"}),
    # Secrets are always on; a policy may say so.
    "keys": frozenset(),
    "api_keys": frozenset(),
    "secrets": frozenset(),
}
"""Names that a policy may use for several detectors at once."""

_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")


@dataclass(frozen=True, slots=True, kw_only=True)
class RedactionRules:
    """What is looked for. Secrets are on by default, personal data by name only."""

    secrets: bool = True
    pii: frozenset[str] = frozenset()
    patterns: tuple[tuple[str, LinearPattern], ...] = ()
    """A space's own expressions by name; a group called `value` says what goes, else the whole match."""
    env_allow: frozenset[str] = frozenset()
    """Names of variables whose values in env files may be kept, and which no name rule looks at."""
    allow: tuple[re.Pattern[str], ...] = ()
    """Values that one of these matches as a whole are known to be harmless."""
    names: bool = False
    """Texts are names and identifiers: that one looks drawn makes it no secret there."""


def project_rules(pii: Pii | str = Pii.SENSITIVE, *, env_allow: Iterable[str] = ()) -> RedactionRules:
    """Return the rules that hold in all of a project; raises `InvalidInput` for a choice that there is not.

    >>> sorted(project_rules("sensitive").pii)
    ['card', 'iban', 'ssn']
    """
    return RedactionRules(pii=_PII[parse_pii(pii)], env_allow=frozenset(env_allow))


def rules_from_policy(policy: Mapping[str, object]) -> RedactionRules:
    """Return the rules that a space's policy asks for; the defaults for an empty one.

    `pii_redaction` is a list of detector names, group names and mappings `{"name": …, "regex": …}`; `env_allow` is
    an optional list of variable names. Raises `InvalidInput` with the bad entry and the valid names.

    >>> sorted(rules_from_policy({"pii_redaction": ["emails", "ips"]}).pii)
    ['email', 'ipv4', 'ipv6']
    """
    pii: set[str] = set()
    patterns: list[tuple[str, LinearPattern]] = []
    for entry in _as_list(policy.get("pii_redaction"), "pii_redaction"):
        if isinstance(entry, str):
            pii |= _detectors(entry)
        elif isinstance(entry, Mapping):
            patterns.append(_pattern(entry))
        else:
            raise InvalidInput(
                f"pii_redaction entry {entry!r} is neither a name nor a mapping; {_valid_names()}"
            )
    if len(patterns) > PATTERNS_LIMIT:
        raise InvalidInput(
            f"pii_redaction has {len(patterns)} expressions; at most {PATTERNS_LIMIT} are allowed."
        )
    names = _as_list(policy.get("env_allow"), "env_allow")
    if not all(isinstance(name, str) for name in names):
        raise InvalidInput(f"env_allow {names!r} must be a list of variable names.")
    return RedactionRules(
        pii=frozenset(pii), patterns=tuple(patterns), env_allow=frozenset(str(name) for name in names)
    )


def _as_list(value: object, field: str) -> Iterable[object]:
    if value is None:
        return []
    if isinstance(value, (list, tuple, set, frozenset)):
        return list(value)
    raise InvalidInput(f"{field} {value!r} must be a list.")


def _valid_names() -> str:
    return (
        f"detectors are {', '.join(sorted(DETECTORS))}; groups are {', '.join(sorted(GROUPS))}; "
        'an own rule is {"name": …, "regex": …}.'
    )


def _detectors(entry: str) -> frozenset[str]:
    name = entry.strip().lower().replace("-", "_").replace(" ", "_")
    if name in DETECTORS:
        return frozenset({name})
    if name in GROUPS:
        return GROUPS[name]
    raise InvalidInput(f"pii_redaction entry {entry!r} is not known: {_valid_names()}")


def _pattern(entry: Mapping[object, object]) -> tuple[str, LinearPattern]:
    name, source = entry.get("name"), entry.get("regex")
    if not isinstance(name, str) or _NAME.fullmatch(name) is None:
        raise InvalidInput(
            f"pii_redaction entry {dict(entry)!r}: name {name!r} must be 1 to 64 of a-z, 0-9, _ and -, "
            "beginning with a letter or a digit."
        )
    if set(entry) - {"name", "regex"} or not isinstance(source, str) or not source:
        raise InvalidInput(
            f'pii_redaction entry {dict(entry)!r} must be {{"name": …, "regex": …}}; {_valid_names()}'
        )
    return name, compile_guarded(source, name=name)


def compile_guarded(source: str, *, name: str) -> LinearPattern:
    """Return `source` as it runs in time that grows no faster than a text.

    Raises `InvalidInput` for an expression that is too long, does not compile, matches the empty text, or uses what
    cannot be run so: a back-reference, a condition, an atomic group or possessive repetition, a repetition of what may
    be empty, a look ahead or back over more than a few characters, hundreds of choices.
    """
    if len(source) > PATTERN_LIMIT:
        problem = f"has {len(source)} characters; at most {PATTERN_LIMIT} are allowed"
    else:
        try:
            pattern = linear_pattern(source)
        except UnusablePattern as error:
            problem = str(error)
        else:
            if not pattern.matches_nothing():
                return pattern
            problem = "matches the empty text"
    raise InvalidInput(
        f"The expression {source[:80]!r} of redaction rule {name!r} {problem}. Write it otherwise in the space's "
        "pii_redaction; until then nothing is stored there."
    )
