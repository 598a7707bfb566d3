"""Secrets in URLs, connection strings, command lines and HTTP headers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from hexad.core.lazy import lazy_pattern
from hexad.redaction.secrets import values
from hexad.redaction.secrets.values import FROM_STRUCTURE, SecretSpan

_USERINFO = lazy_pattern(
    r"(?P<user>[^\s:@/?#\"'<>`\\\x00|]{0,256}+):"
    r"(?P<password>[^\s@/\"'<>`\x00|]{1,256}(?:@[^\s@/\"'<>`\x00|]{1,128}){0,2})@(?=[\w\[${%<.])"
)
# Drivers take a password with slashes too, where other URLs would begin their path.
_DATABASE_USERINFO = lazy_pattern(
    r"(?P<user>[^\s:@/?#\"'<>`\\\x00]{0,256}+):(?!\d{1,5}/)(?P<password>[^\s@\"'<>`\x00]{1,256}?)"
    r"@(?=[\w.-]{1,255}+(?:[:/,\s\"'`?]|\Z))"
)
_DATABASE_SCHEME = lazy_pattern(
    r"(?:postgres(?:ql)?|mysql2?|mariadb|mongodb|rediss?|valkey|amqps?|sqlserver|mssql|oracle|cockroachdb|ldaps?|smtps?"
    r"|clickhouse|cassandra|imaps?|s?ftps?|snowflake|redshift|nats|kafka|pymysql|psycopg2?|asyncpg|srv|db2)\Z",
    re.IGNORECASE,
)
_ORACLE_THIN = lazy_pattern(r"jdbc:oracle:(?:thin|oci):[\w$#]{1,64}/([^\s@\"'<>\x00]{1,128})@")
_WEAK_PASSWORDS: Final = frozenset(
    """pass password passwd pwd secret pw token user username test changeme example p x key apikey api_key guest
    mypassword my-password my_password""".split()
)
_CREDENTIAL = r"([A-Za-z0-9+/=_.~:-]{8,4096}+)"
_AUTHORIZATION = lazy_pattern(
    r"authorization[\"'`]?\]?\s{0,4}[:=,]\s{0,4}[\"'`]?"
    r"(?:(bearer|basic|token|apikey|api-key|key|negotiate|digest)[ ]+)?" + _CREDENTIAL,
    re.IGNORECASE,
)
_BEARER = lazy_pattern(r"bearer[ ]+[\"']?([A-Za-z0-9+/=_.~-]{16,4096}+)", re.IGNORECASE)
_API_HEADER = lazy_pattern(
    r"(?:x-(?:[a-z]{1,24}-){0,4}|api-?|private-|deploy-|job-)(?:key|token|secret|password|auth|signature)"
    r"[\"'`]?\s{0,4}[:,]\s{0,4}[\"'`]?" + _CREDENTIAL,
    re.IGNORECASE,
)
_COOKIE_LINE = lazy_pattern(r"\b(?:set-)?cookie[\"']?:[ \t]*[\"']?([^\r\n\x00]{1,4096}+)", re.IGNORECASE)
_COOKIE = lazy_pattern(r"[\w.%-]{1,64}+=([^;,\s\"']{16,4096}+)")
_CURL_USER = lazy_pattern(
    r"\s(?:-u|--user|--proxy-user)(?:=|[ \t]{0,4})"
    r"(?:[\w$.@+-]{1,128}:[\"']([^\s\"':\x00]{3,128})[\"']|[\"'][^\s:\"'\x00]{0,128}:([^\s\"':\x00]{3,128}):?[\"']"
    r"|[\"']([^\s\"':\x00]{3,128}):[\"']"
    r"|[\w$.@+-]{1,128}:([^\s\"':\x00]{3,128})(?=\s|\Z))"
)
_LINE_END = lazy_pattern(
    r"(?<![\\ \r])\r?\n"
)  # of a command: a line that a backslash continues does not end it
_MYSQL_FLAG = lazy_pattern(
    r"\b(?:mysql|mysqldump|mysqladmin|mariadb)\b[^\n\x00]{0,200}?[ \t]-p([^\s\"'$\x00-]\S{3,64})"
)
_SHORT_FLAG = lazy_pattern(
    r"\b(?:sshpass|docker login|podman login|redis-cli|az login)\b[^\n\x00]{0,200}?[ \t](?:-p|-a)[ ]?[\"']?"
    r"([^\s\"'$\x00-][^\s\"'\x00]{3,64})"
)
_SAS = lazy_pattern(
    r"[?&;]sig=([A-Za-z0-9%+/=_-]{40,128})|X-Amz-Signature=([0-9a-f]{64})|Signature=([A-Za-z0-9%~_-]{100,700})"
)
_NETRC = lazy_pattern(r"\b(?:machine\s+\S{1,128}|default)\s+login\s+\S{1,128}\s+password\s+(\S{1,128})")
_DOCKER_AUTH = lazy_pattern(r"\"auth\"\s{0,4}:\s{0,4}\"([A-Za-z0-9+/]{8,512}={0,2})\"")


def find_url_passwords(text: str) -> Iterator[SecretSpan]:
    """Yield the passwords in `scheme://user:password@host`, database drivers' forms included."""
    at = text.find("://")
    while at >= 0:
        start = at + 3
        match = _USERINFO.match(text, start)
        if match is None and _DATABASE_SCHEME.search(text, max(0, at - 24), at):
            match = _DATABASE_USERINFO.match(text, start)
        if match is not None and _is_url_password(
            match["password"], match["user"], text[max(0, at - 10) : at]
        ):
            yield SecretSpan("url-password", *match.span("password"), FROM_STRUCTURE)
            start = match.end()
        at = text.find("://", start)
    if "jdbc:oracle" in text:
        for oracle in _ORACLE_THIN.finditer(text):
            if _is_url_password(oracle[1], "", ""):
                yield SecretSpan("url-password", oracle.start(1), oracle.end(1), FROM_STRUCTURE)


def _is_url_password(value: str, user: str, scheme: str) -> bool:
    """Tell whether `value` is more than the default that everybody knows, such as `postgres:postgres`."""
    lowered = value.lower().strip("[]")
    if lowered in _WEAK_PASSWORDS or lowered == user.lower() or scheme.lower().endswith(lowered):
        return False
    if values.is_placeholder(value) or value.startswith(("$", "{", "%s", "[")):
        return False
    return not (value.isdigit() and len(value) < 4)


def find_header_secrets(text: str, lowered: str) -> Iterator[SecretSpan]:
    """Yield credentials in HTTP headers, cookies and signed URLs. `lowered` is `text` in lower case."""
    if "authorization" in lowered:
        yield from _authorizations(text)
    if "bearer " in lowered:
        for match in _BEARER.finditer(text):
            if _is_header_secret(match[1]) and values.looks_random(match[1][:256], min_chars=16):
                yield SecretSpan("bearer-token", match.start(1), match.end(1), FROM_STRUCTURE)
    if "-" in text and ("key" in lowered or "token" in lowered or "x-" in lowered):
        for match in _API_HEADER.finditer(text):
            if _is_header_secret(match[1]) and values.looks_chosen(match[1][:512]):
                yield SecretSpan("header-secret", match.start(1), match.end(1), FROM_STRUCTURE)
    if "cookie" in lowered:
        for line in _COOKIE_LINE.finditer(text):
            for cookie in _COOKIE.finditer(text, line.start(1), line.end(1)):
                if values.looks_random(cookie[1][:256], min_chars=16) and not values.is_filler(cookie[1]):
                    yield SecretSpan("cookie", cookie.start(1), cookie.end(1), FROM_STRUCTURE)
    if "sig=" in lowered or "signature=" in lowered:
        for match in _SAS.finditer(text):
            group = match.lastindex or 0
            yield SecretSpan("url-signature", match.start(group), match.end(group), FROM_STRUCTURE)


def _authorizations(text: str) -> Iterator[SecretSpan]:
    for match in _AUTHORIZATION.finditer(text):
        scheme, value = (match[1] or "").lower(), match[2]
        if scheme == "basic":
            fits = values.decodes_to_user_and_password(value)
        elif scheme:
            fits = values.looks_chosen(value[:512]) or values.is_hex(value)
        else:
            fits = values.looks_random(value[:256], min_chars=16)
        if fits and _is_header_secret(value):
            rule = {"basic": "basic-auth", "bearer": "bearer-token"}.get(scheme, "authorization")
            yield SecretSpan(rule, match.start(2), match.end(2), FROM_STRUCTURE)


def _is_header_secret(value: str) -> bool:
    return not values.is_placeholder(value[:512]) and not values.is_wordy(value[:512])


def _curl_passwords(text: str) -> Iterator[SecretSpan]:
    for match in _CURL_USER.finditer(text):
        command = text.rfind("curl", max(0, match.start() - 600), match.start())
        if command < 0 or _LINE_END.search(text, command, match.start()):
            continue
        group = match.lastindex or 0
        if not values.is_placeholder(match[group]) and not values.is_wordy(match[group]):
            yield SecretSpan("password", match.start(group), match.end(group), FROM_STRUCTURE)


def find_command_secrets(text: str, lowered: str) -> Iterator[SecretSpan]:
    """Yield passwords that a command line or a credentials file gives without naming them."""
    patterns = []
    if "curl" in lowered:
        yield from _curl_passwords(text)
    if "mysql" in lowered or "mariadb" in lowered:
        patterns.append(_MYSQL_FLAG)
    if " -p" in text or " -a" in text:
        patterns.append(_SHORT_FLAG)
    if "login" in lowered:
        patterns.append(_NETRC)
    for pattern in patterns:
        for match in pattern.finditer(text):
            group = match.lastindex or 0
            described = values.is_wordy(match[group]) and not values.ends_in_number(match[group])
            if not values.is_placeholder(match[group]) and not described:
                yield SecretSpan("password", match.start(group), match.end(group), FROM_STRUCTURE)
    if '"auth"' in text:
        for match in _DOCKER_AUTH.finditer(text):
            if values.decodes_to_user_and_password(match[1]):
                yield SecretSpan("basic-auth", match.start(1), match.end(1), FROM_STRUCTURE)
