"""Settings: the only reader of the environment and of `hexad.toml`.

Precedence: what the caller passes, then the environment (`HEXAD_…`), then `.hexad/hexad.toml`, then the defaults.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from enum import Enum
from pathlib import Path
from typing import Any, Final, TypeVar, cast

from hexad.core.arguments import is_number, is_whole, quoted, read_regular, read_toml, require_owner_of
from hexad.errors import InvalidInput, StorageFailure, UntrustedSettings, failure

LAYERS: Final = ("session", "project", "user", "vector", "graph", "governance")
"""What has a size, and may have a quota."""
WEEKLY: Final = "weekly"
USER_EVERY: Final = timedelta(days=30)
_MONTH: Final = timedelta(days=365.25 / 12)
_CONSOLIDATION_BOUNDS: Final = {
    "archive_months": 1_200.0,
    "drop_below": 1.0,
    "drop_after_days": 36_500.0,
    "session_days": 36_500.0,
}
_QUOTA_MOST: Final = 1 << 62


class StreamDurability(Enum):
    """When a record of the stream is acknowledged."""

    ALWAYS = "always"
    """`record` returns when the record is on the disk; threads that record at the same time share a sync."""
    GROUP = "group"
    """`record` returns at once; at most 20 ms or 4,096 records later all are on the disk; `flush` waits for it."""
    OS = "os"
    """As `group`, without the sync: safe from the end of the process, not from lost power."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsolidationSettings:
    """The table `[consolidation]`. `nightly` is True, False or `"weekly"`; a time of 0 means never."""

    nightly: bool | str = True
    monthly: bool = True
    sessions: bool = True
    archive_months: float = 12.0
    drop_below: float = 0.2
    drop_after_days: float = 30.0
    session_days: float = 180.0
    quotas: Mapping[str, int] = field(default_factory=dict)
    quota_bytes: Mapping[str, int] = field(default_factory=dict)

    @property
    def every(self) -> timedelta | None:
        """How often the project's job runs by itself; None where it does not."""
        return timedelta(days=7) if self.nightly == WEEKLY else timedelta(days=1) if self.nightly else None

    @property
    def user_every(self) -> timedelta | None:
        """How often the user's job runs by itself; None where it does not."""
        return USER_EVERY if self.monthly else None

    @property
    def archive_after(self) -> timedelta | None:
        """After how long without a touch a memory is archived; None for never."""
        return self.archive_months * _MONTH if self.archive_months else None

    @property
    def drop_after(self) -> timedelta | None:
        """After how long unread what hardly matters is dropped; None for never."""
        return timedelta(days=self.drop_after_days) if self.drop_after_days else None

    @property
    def session_after(self) -> timedelta | None:
        """After how long a working set that ended is removed; None for never."""
        return timedelta(days=self.session_days) if self.session_days else None


def parse_consolidation(table: Mapping[str, object], file: str) -> ConsolidationSettings:
    """Return what a table `[consolidation]` says; raises `InvalidInput`, naming `file`, for what does not belong there.

    >>> parse_consolidation({"nightly": "weekly", "archive_months": 6}, "hexad.toml").every.days
    7
    """
    slots = ConsolidationSettings.__slots__
    settings: dict[str, object] = {}
    for name, value in table.items():
        if name not in slots:
            raise InvalidInput(
                f"[consolidation] in {file}: unknown setting {name!r}; known are {', '.join(slots)}."
            )
        settings[name] = _consolidation_value(
            name, value, f"[consolidation] in {file}: {name} = {quoted(value)}"
        )
    return ConsolidationSettings(**settings)  # type: ignore[arg-type]  # each was looked at above


def _consolidation_value(name: str, value: object, source: str) -> object:
    if name in _CONSOLIDATION_BOUNDS:
        if not is_number(value, 0, _CONSOLIDATION_BOUNDS[name]):
            raise InvalidInput(f"{source} should be a number from 0 to {_CONSOLIDATION_BOUNDS[name]:,g}.")
        return float(value)
    if name in ("quotas", "quota_bytes"):
        return _quotas(value, source)
    if name == "nightly" and value == WEEKLY:
        return value
    if not isinstance(value, bool):
        allowed = 'true, false or "weekly"' if name == "nightly" else "true or false"
        raise InvalidInput(f"{source} should be {allowed}.")
    return value


def _quotas(value: object, source: str) -> dict[str, int]:
    if not isinstance(value, Mapping):
        raise InvalidInput(f"{source} should be a table, such as {{project = 50000}}.")
    for layer, most in value.items():
        if layer not in LAYERS:
            raise InvalidInput(f"{source}: unknown layer {quoted(layer)}; known are {', '.join(LAYERS)}.")
        if not is_whole(most, 1, _QUOTA_MOST):
            raise InvalidInput(f"{source}: {layer} = {quoted(most)} should be a whole number of at least 1.")
    return dict(value)


DRIFT_PROJECTS: Final = 5
"""After so many projects without it a preference becomes less sure."""
_MOST_PROJECTS: Final = 1_000
_MOST_PREFERENCES: Final = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class UserSettings:
    """The table `[user]`: whether the project takes part in learning, whether an encrypted one may write to a plain
    layer, and after how many projects without it a preference becomes less sure.
    """

    learning: bool = True
    allow_plain: bool = False
    drift_projects: int = DRIFT_PROJECTS


def parse_user_settings(table: Mapping[str, object], file: str) -> UserSettings:
    """Return what a table `[user]` says; raises `InvalidInput`, naming `file`, for what does not belong there."""
    slots = UserSettings.__slots__
    for name, value in table.items():
        if name not in slots:
            raise InvalidInput(f"[user] in {file}: unknown setting {name!r}; known are {', '.join(slots)}.")
        if name == "drift_projects":
            if not is_whole(value, 1, _MOST_PROJECTS):
                raise InvalidInput(
                    f"[user] in {file}: {name} = {quoted(value)} should be a whole number from 1 to {_MOST_PROJECTS:,}."
                )
        elif not isinstance(value, bool):
            raise InvalidInput(f"[user] in {file}: {name} = {quoted(value)} should be true or false.")
    return UserSettings(**cast("dict[str, bool]", dict(table)))


def parse_preferences(table: Mapping[str, object], file: str) -> dict[str, tuple[str, ...]]:
    """Return the preferences that a file states: a name and a value, or a list of values that all hold.

    >>> parse_preferences({"db": "Postgres", "language": ["Python", "Rust"]}, "preferences.toml")
    {'db': ('Postgres',), 'language': ('Python', 'Rust')}
    """
    if len(table) > _MOST_PREFERENCES:
        raise InvalidInput(f"{file} states {len(table):,} preferences; at most {_MOST_PREFERENCES} are read.")
    preferences = {}
    for name, value in table.items():
        values = value if isinstance(value, list) else [value]
        if not values or not all(isinstance(item, str) and item.strip() for item in values):
            raise InvalidInput(f"{file}: {name} = {quoted(value)} should be a text, or a list of texts.")
        preferences[name] = tuple(values)
    return preferences


__all__ = [
    "CONFIG_FILE",
    "DATABASE",
    "STORE_DIRECTORY",
    "AssistantFolders",
    "Settings",
    "assistant_folders",
    "find_store",
    "load_preferences",
    "load_settings",
    "store_root",
]

STORE_DIRECTORY: Final = ".hexad"
DATABASE: Final = "memory.db"
CONFIG_FILE: Final = "hexad.toml"
FILE_BYTES_LIMIT: Final = 1 << 20
"""Largest file of settings, preferences or trust."""
_LOCK_TIMEOUT_MOST_S: Final = 86_400


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What may be set for a project; every field has a working default."""

    project: str | None = None
    embedder: str | None = "default"
    durability: str = "group"
    stream_durability: str = "group"
    lenses: tuple[str, ...] | None = None
    auto_tag_threshold: float | None = None
    compaction_model: str | None = None
    compact_after_hours: float = 168.0
    xdb_max_storage_bytes: int | None = None
    xdb_compression_threshold: float = 0.8
    xdb_top_k_activations: int = 10
    xdb_submission_grace_days: float = 7.0
    lock_timeout_s: float = 30.0
    env_allow: frozenset[str] = frozenset()
    generator: str | None = None
    memory_backend: str = "basic"
    memory_semantic_model: str | None = None
    llm_model: str | None = None
    role: str | None = None
    otel: bool = False
    budget: Mapping[str, object] = field(default_factory=dict)
    honeycomb: Mapping[str, object] = field(default_factory=dict)
    prices: Mapping[str, object] = field(default_factory=dict)
    llm_timeout_s: float = 60.0
    llm_max_tokens: int = 4_096
    rerank: str | None = None
    rerank_timeout_s: float = 2.0
    rerank_api_key: str | None = field(default=None, repr=False)
    embedder_api_key: str | None = field(default=None, repr=False)
    llm_api_key: str | None = field(default=None, repr=False)
    provider_keys: Mapping[str, str] = field(default_factory=dict, repr=False)
    encryption: Mapping[str, object] = field(default_factory=dict)
    privacy: Mapping[str, object] = field(default_factory=dict)
    consolidation: ConsolidationSettings = field(default_factory=ConsolidationSettings)
    user: UserSettings = field(default_factory=UserSettings)
    user_dir: Path | None = None
    router: Mapping[str, object] = field(default_factory=dict)
    user_keys: Mapping[str, Any] = field(default_factory=dict, repr=False)
    key_file: Path | None = None
    key_command: str | None = field(default=None, repr=False)
    passphrase: str | None = field(default=None, repr=False)
    new_passphrase: str | None = field(default=None, repr=False)
    new_key_command: str | None = field(default=None, repr=False)
    origins: Mapping[str, str] = field(default_factory=dict, repr=False, compare=False)
    untrusted: Mapping[str, str] = field(default_factory=dict, repr=False, compare=False)
    """Settings of the project's file that need this user's trust and do not have it, with their values."""
    store: Path | None = field(default=None, repr=False, compare=False)
    """The folder whose file was read."""

    @property
    def pii(self) -> str:
        """Which personal data are taken out of every text."""
        return str(self.privacy.get("pii") or "sensitive")

    @property
    def key_file_variable(self) -> str | None:
        """The variable that names the key file, None where the file of settings does."""
        return _KEY_FILE if self.origins.get("key_file") == _KEY_FILE else None

    def key_sources(self, key: object = None) -> dict[str, Any]:
        """Return what may open an encrypted store beside `key`, as `KeyGiven.of` takes it: nothing where that is given.

        `variable` names the key file. Raises `UntrustedSettings` where the file of a project names the key file and
        this user has not trusted that.
        """
        if key is not None:
            return {}
        self.require_trust("encryption.key_file")
        return {
            "passphrase": self.passphrase,
            "key_file": self.key_file,
            "variable": self.key_file_variable,
            "command": self.key_command,
        }

    def require_trust(self, *names: str) -> None:
        """Raise `UntrustedSettings` where one of these settings is a project's own and this user has not trusted it.

        Nothing that the file of a project says may send texts away, or choose a key, before a person has seen it.
        """
        lacking = [name for name in names if name in self.untrusted]
        if lacking and self.store is not None:
            settings = " and ".join(f"{name} = {quoted(self.untrusted[name])}" for name in lacking)
            purposes = "; ".join(dict.fromkeys(purpose_of(name, self.untrusted[name]) for name in lacking))
            raise UntrustedSettings(
                f"{self.store / CONFIG_FILE} has {settings}, which you have not trusted yet: {purposes}. Nothing was "
                f"sent or opened. If that is as you want it, run `hexad config trust` in {self.store.parent}; else "
                "remove it from the file, or set another one by a variable (HEXAD_…) or an argument."
            )

    def label_of(self, name: str) -> str:
        """Return what to look for to change a setting: its variable, or its name with the file that it is from."""
        return self.origins.get(name, f"the setting {name!r}")


_KEYS: Final[Mapping[str, type]] = {
    "project": str,
    "embedder": str,
    "durability": str,
    "stream_durability": str,
    "lenses": list,
    "auto_tag_threshold": float,
    "compaction_model": str,
    "compact_after_hours": float,
    "xdb_max_storage_bytes": int,
    "xdb_compression_threshold": float,
    "xdb_top_k_activations": int,
    "xdb_submission_grace_days": float,
    "lock_timeout_s": float,
    "env_allow": list,
    "generator": str,
    "memory_backend": str,
    "memory_semantic_model": str,
    "llm_model": str,
    "role": str,
    "otel": bool,
    "budget": dict,
    "honeycomb": dict,
    "prices": dict,
    "encryption": dict,
    "privacy": dict,
    "consolidation": dict,
    "user": dict,
    "router": dict,
    "llm_timeout_s": float,
    "llm_max_tokens": int,
    "rerank": str,
    "rerank_timeout_s": float,
}
_KINDS: Final[Mapping[type, str]] = {
    str: "a text", float: "a number", int: "a whole number", bool: "true or false", list: "a list of texts",
    dict: "a table",
}  # fmt: skip
_TABLES: Final = frozenset(
    {"budget", "consolidation", "encryption", "honeycomb", "prices", "privacy", "router", "user"}
)  # too much for a variable
_ALIASES: Final = {
    "memory_backend": "LEXON_MEMORY_BACKEND",
    "memory_semantic_model": "LEXON_MEMORY_SEMANTIC_MODEL",
    "otel": "LEXON_OTEL",
}
"""Document 1's own names of variables; ours win over them."""
_PROVIDER_KEYS: Final[Mapping[str, tuple[str, ...]]] = {
    "openai": ("OPENAI_API_KEY",),
    "anthropic": ("ANTHROPIC_API_KEY",),
    "google": ("GOOGLE_API_KEY", "GEMINI_API_KEY"),
    "ollama": ("OLLAMA_API_KEY",),
    "huggingface": ("HF_TOKEN",),
    "cohere": ("COHERE_API_KEY", "CO_API_KEY"),
    "jina": ("JINA_API_KEY",),
}
"""The variables in which the providers' own tools look for a key; the first that is set counts."""

PREFERENCES_FILE: Final = "preferences.toml"
_USER_DIR: Final = "HEXAD_USER_DIR"
_USER_KEY_FILE: Final = "HEXAD_USER_KEY_FILE"
_KEY_FILE: Final = "HEXAD_KEY_FILE"
_KEY_PROVIDERS: Final = ("keyring", "key_file", "passphrase", "command")


_SENDING: Final = (
    "embedder", "generator", "rerank", "llm_model", "memory_semantic_model", "compaction_model",
)  # fmt: skip
"""Settings that say where texts go."""
_TRUST_NAME_CHARS: Final = 32


def find_store(start: Path) -> Path | None:
    """Return the `.hexad` folder of `start` or of the nearest folder above it, up to the repository's root.

    Raises `InvalidInput` for one above that is another user's, as anybody can make one in `/tmp`.
    """
    here = start.resolve()
    for folder in (here, *here.parents):
        if (folder / STORE_DIRECTORY).is_dir():
            if folder != here:
                require_owner_of(here, found=folder / STORE_DIRECTORY)
            return folder / STORE_DIRECTORY
        if (folder / ".git").exists():
            return None
    return None


NO_STORE: Final = "has no store of its own"


def store_above(path: str | Path, directory: Path) -> str | None:
    """Return what to say where the store of a folder that was named is that of a folder above it; else None."""
    named, used = Path(path).resolve(), directory.resolve()
    own = (named / STORE_DIRECTORY).resolve()  # may be a link
    if used in (named, own) or used.parent not in named.parents:
        return None
    return f"{named} {NO_STORE}; the one of {used.parent} is used. `hexad init` creates one."


def store_root(start: Path) -> Path:
    """Return where a new store belongs: the repository's root above `start`, or `start` itself."""
    here = start.resolve()
    for folder in (here, *here.parents):
        if (folder / ".git").exists():
            return folder
    return here


def connection_token(environ: Mapping[str, str] | None = None) -> str | None:
    """Return the token that HEXAD_TOKEN has for a server; None where it has none."""
    environ = os.environ if environ is None else environ
    return environ.get("HEXAD_TOKEN", "").strip() or None


def load_settings(store: Path | None, environ: Mapping[str, str] | None = None) -> Settings:
    """Return the settings of a store's folder; raises `InvalidInput` for a file or value that cannot be used.

    An empty variable, and an empty text in the file, are as if they were not there.
    """
    environ = os.environ if environ is None else environ
    values = _from_file(store / CONFIG_FILE) if store is not None else {}
    origins = {name: _of_file(name) for name in values} | _origin_of_key_file(environ)
    for name in _KEYS:
        for variable in (f"HEXAD_{name.upper()}", _ALIASES.get(name, "")):
            value = environ.get(variable, "")
            if value.strip() and name not in _TABLES:
                values[name] = _from_environment(name, variable, value)
                origins[name] = variable
                break
    timeout = values.get("lock_timeout_s", 0.0)
    if not 0 <= timeout <= _LOCK_TIMEOUT_MOST_S:
        raise InvalidInput(
            f"{origins['lock_timeout_s']} = {timeout!r} cannot be used; give seconds, from 0 to "
            f"{_LOCK_TIMEOUT_MOST_S:,}."
        )
    lenses = values.get("lenses")
    embedder = values.get("embedder", "default")
    return Settings(
        store=store,
        untrusted=_untrusted(store, values, origins, environ),
        project=values.get("project"),
        embedder=None if embedder == "none" else embedder,
        durability=values.get("durability", "group"),
        stream_durability=values.get("stream_durability", "group"),
        lenses=None if lenses is None else tuple(lenses),
        auto_tag_threshold=_threshold(values, origins),
        compaction_model=values.get("compaction_model"),
        compact_after_hours=_or(_bounded(values, origins, "compact_after_hours", (0, 876_000)), 168.0),
        xdb_max_storage_bytes=_bounded(values, origins, "xdb_max_storage_bytes", (0, 1 << 62)) or None,
        xdb_compression_threshold=_or(_bounded(values, origins, "xdb_compression_threshold", (0.01, 1)), 0.8),
        xdb_top_k_activations=int(_bounded(values, origins, "xdb_top_k_activations", (1, 100)) or 10),
        xdb_submission_grace_days=_or(
            _bounded(values, origins, "xdb_submission_grace_days", (0, 36_500)), 7.0
        ),
        lock_timeout_s=float(values.get("lock_timeout_s", 30.0)),
        env_allow=frozenset(values.get("env_allow", [])),
        generator=values.get("generator"),
        memory_backend=values.get("memory_backend", "basic"),
        memory_semantic_model=values.get("memory_semantic_model"),
        llm_model=values.get("llm_model"),
        role=values.get("role"),
        otel=bool(values.get("otel", False)),
        budget=_table(values, "budget"),
        honeycomb=_table(values, "honeycomb"),
        prices=_table(values, "prices"),
        llm_timeout_s=float(values.get("llm_timeout_s", 60.0)),
        llm_max_tokens=values.get("llm_max_tokens", 4_096),
        rerank=values.get("rerank"),
        rerank_timeout_s=_or(_bounded(values, origins, "rerank_timeout_s", (0.05, 60)), 2.0),
        encryption=_encryption(values),
        privacy=_privacy(values),
        consolidation=parse_consolidation(_table(values, "consolidation"), CONFIG_FILE),
        user=parse_user_settings(_table(values, "user"), CONFIG_FILE),
        user_dir=Path(environ[_USER_DIR]).expanduser() if environ.get(_USER_DIR) else None,
        router=_table(values, "router"),
        user_keys=_user_keys(environ),
        key_file=_key_file(values, environ),
        key_command=environ.get("HEXAD_KEY_COMMAND") or None,
        passphrase=environ.get("HEXAD_PASSPHRASE") or None,
        new_passphrase=environ.get("HEXAD_NEW_PASSPHRASE") or None,
        new_key_command=environ.get("HEXAD_NEW_KEY_COMMAND") or None,
        embedder_api_key=environ.get("HEXAD_EMBEDDER_API_KEY") or None,
        llm_api_key=environ.get("HEXAD_LLM_API_KEY") or None,
        rerank_api_key=environ.get("HEXAD_RERANK_API_KEY") or None,
        provider_keys=_provider_keys(environ),
        origins=origins,
    )


def settings_needing_trust(
    store: Path, environ: Mapping[str, str] | None = None
) -> tuple[dict[str, str], dict[str, str]]:
    """Return the settings of a store's file that need trust, with their values, and those of them that have none.

    What a variable overrides stands in neither. Raises what `load_settings` raises.
    """
    settings = load_settings(store, environ)
    return _needing_trust(_from_file(store / CONFIG_FILE), settings.origins), dict(settings.untrusted)


def purpose_of(name: str, value: str) -> str:
    """Return what a setting of `settings_needing_trust` does, and where what it sends goes.

    >>> purpose_of("embedder", "openai:tiny@http://host/v1")
    'texts and questions go to http://host/v1'
    >>> purpose_of("rerank", "cohere:v4")
    "questions and hits go to cohere's own servers"
    """
    if name == "encryption.key_file":
        return f"the key of the store is read from {value}, or made there"
    if name == "encryption.provider":
        return f"{value} says where the key of a store that is encrypted is kept"
    if name == "embedder":
        sent = "texts and questions"
    else:
        sent = "questions and hits" if name == "rerank" else "texts and prompts"
    at = value.find("@http")
    place = value[at + 1 :] if at >= 0 else f"{value.partition(':')[0]}'s own servers"
    return f"{sent} go to {place}"


def trust_directory(environ: Mapping[str, str] | None = None) -> Path:
    """Return the folder of this user in which trust is noted, a file for each store."""
    environ = os.environ if environ is None else environ
    if environ.get(_USER_DIR):
        return Path(environ[_USER_DIR]).expanduser() / "trust"
    import platformdirs

    return Path(platformdirs.user_data_dir("hexad", appauthor=False)) / "trust"


def trust_file(store: Path, environ: Mapping[str, str] | None = None) -> Path:
    """Return the file that notes which settings of this store the user has trusted; it may not be there."""
    name = hashlib.sha256(os.fsencode(store.resolve())).hexdigest()
    return trust_directory(environ) / f"{name[:_TRUST_NAME_CHARS]}.json"


def read_trust(path: Path) -> tuple[str, dict[str, str]]:
    """Return the store that a file of trust is about, and the settings; raises `StorageFailure` for a damaged one."""
    try:
        note = json.loads(read_regular(path, limit=FILE_BYTES_LIMIT))
        store, settings = note["store"], note["settings"]
        if isinstance(store, str) and all(isinstance(value, str) for value in settings.values()):
            return store, dict(settings)
    except OSError as error:
        raise failure("read", path, error) from error
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        pass  # said below, as of what is no such note
    raise StorageFailure(f"{path} is no note of trust. Remove it, then run `hexad config trust` again.")


def _needing_trust(values: Mapping[str, Any], origins: Mapping[str, str]) -> dict[str, str]:
    """Return the settings that a project's file has and that may send texts away or choose a key.

    A bare model goes to the generator that somebody chose: it is no place.
    """
    found = {
        name: value
        for name in _SENDING
        if isinstance(value := values.get(name), str) and ":" in value and origins[name] == _of_file(name)
    }
    chosen = dict(values.get("encryption", {}))
    if origins.get("key_file") == _KEY_FILE:
        chosen.pop("key_file", None)
    return found | {
        f"encryption.{name}": str(value) for name in ("provider", "key_file") if (value := chosen.get(name))
    }


def _origin_of_key_file(environ: Mapping[str, str]) -> dict[str, str]:
    return {"key_file": _KEY_FILE} if environ.get(_KEY_FILE) else {}


def _of_file(name: str) -> str:
    return f"{name} in {CONFIG_FILE}"


def _untrusted(
    store: Path | None, values: Mapping[str, Any], origins: Mapping[str, str], environ: Mapping[str, str]
) -> Mapping[str, str]:
    needing = _needing_trust(values, origins)
    if store is None or not needing:
        return {}
    path = trust_file(store, environ)
    trusted = read_trust(path)[1] if path.exists() else {}
    return {name: value for name, value in needing.items() if trusted.get(name) != value}


def _provider_keys(environ: Mapping[str, str]) -> dict[str, str]:
    return {
        provider: next(environ[name] for name in names if environ.get(name))
        for provider, names in _PROVIDER_KEYS.items()
        if any(environ.get(name) for name in names)
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class AssistantFolders:
    """Where assistants keep what is set for a user, and where Hexad keeps what it changed there."""

    home: Path
    claude: Path | None
    """`CLAUDE_CONFIG_DIR`, where that is set."""
    codex: Path
    config: Path
    records: Path


def captures_contents(environ: Mapping[str, str] | None = None) -> bool:
    """Whether the variable of OpenTelemetry's GenAI conventions asks for the words of questions in spans.

    Its older values are `true` and `false`; of the newer ones `SPAN_ONLY` and `SPAN_AND_EVENT` are about spans.
    """
    environ = os.environ if environ is None else environ
    asked = environ.get("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "")
    return asked.strip().lower() in ("true", "1", "span_only", "span_and_event")


def assistant_folders(environ: Mapping[str, str] | None = None) -> AssistantFolders:
    """Return the folders of this user's assistants; raises `InvalidInput` where there is no home folder."""
    environ = os.environ if environ is None else environ
    try:
        home = Path(environ["HOME"]) if environ.get("HOME") else Path.home()
    except RuntimeError as error:
        raise InvalidInput("This user has no home folder; set HOME.") from error
    named = environ.get(_USER_DIR)
    if named:
        records = Path(named).expanduser()
    else:
        import platformdirs

        records = Path(platformdirs.user_data_dir("hexad", appauthor=False))
    claude = environ.get("CLAUDE_CONFIG_DIR")
    return AssistantFolders(
        home=home,
        claude=Path(claude).expanduser() if claude else None,
        codex=Path(environ.get("CODEX_HOME") or home / ".codex").expanduser(),
        config=Path(environ.get("XDG_CONFIG_HOME") or home / ".config").expanduser(),
        records=records / "assistants",
    )


def load_preferences(user_dir: Path) -> Mapping[str, tuple[str, ...]]:
    """Return what the user's own file says they prefer; nothing where there is none. Raises `InvalidInput`."""
    path = user_dir / PREFERENCES_FILE
    return parse_preferences(_toml(path), str(path))


def _user_keys(environ: Mapping[str, str]) -> dict[str, Any]:
    """Return what may open an encrypted user layer, as `KeyGiven.of` takes it: it has variables of its own."""
    named = environ.get(_USER_KEY_FILE)
    return {
        "passphrase": environ.get("HEXAD_USER_PASSPHRASE") or None,
        "key_file": Path(named).expanduser() if named else None,
        "variable": _USER_KEY_FILE if named else None,
        "command": environ.get("HEXAD_USER_KEY_COMMAND") or None,
    }


def _table(values: Mapping[str, Any], name: str) -> Mapping[str, object]:
    return dict(values.get(name, {}))


def _privacy(values: Mapping[str, object]) -> Mapping[str, object]:
    """Return the table `[privacy]`; raises `InvalidInput` for what does not belong there."""
    table = _table(values, "privacy")
    for name, value in table.items():
        if name != "pii":
            raise InvalidInput(f"[privacy] in {CONFIG_FILE}: unknown setting {name!r}; known is pii.")
        if not isinstance(value, str):
            raise InvalidInput(f"[privacy] in {CONFIG_FILE}: pii = {value!r} should be a text.")
    return table


def _encryption(values: Mapping[str, object]) -> Mapping[str, object]:
    """Return the table `[encryption]`; raises `InvalidInput` for what does not belong there."""
    table = _table(values, "encryption")
    for name, value in table.items():
        if name == "command":
            raise InvalidInput(
                f"[encryption] in {CONFIG_FILE} cannot name a command: whoever opens a project would run what its "
                "files say. Set HEXAD_KEY_COMMAND."
            )
        if name not in ("provider", "key_file"):
            raise InvalidInput(
                f"[encryption] in {CONFIG_FILE}: unknown setting {name!r}; known are provider, key_file."
            )
        if not isinstance(value, str):
            raise InvalidInput(f"[encryption] in {CONFIG_FILE}: {name} = {value!r} should be a text.")
        if name == "provider" and value and value not in _KEY_PROVIDERS:
            raise InvalidInput(
                f"[encryption] in {CONFIG_FILE}: provider = {value!r} is not one of {', '.join(_KEY_PROVIDERS)}."
            )
    return table


def _key_file(values: Mapping[str, object], environ: Mapping[str, str]) -> Path | None:
    named = environ.get(_KEY_FILE) or _encryption(values).get("key_file")
    return Path(str(named)).expanduser() if named else None


def _threshold(values: Mapping[str, Any], origins: Mapping[str, str]) -> float | None:
    threshold = values.get("auto_tag_threshold")
    if threshold is not None and not 0 < threshold <= 1:
        raise InvalidInput(
            f"{origins['auto_tag_threshold']} = {threshold!r} cannot be used; give a score above 0, up to 1."
        )
    return threshold


_Number = TypeVar("_Number", int, float)


def _or(value: float | None, default: float) -> float:
    return default if value is None else float(value)


def _bounded(
    values: Mapping[str, Any], origins: Mapping[str, str], name: str, bounds: tuple[_Number, _Number]
) -> _Number | None:
    """Return a number that must lie within bounds, None where it is not set."""
    value = values.get(name)
    if value is not None and not bounds[0] <= value <= bounds[1]:
        raise InvalidInput(
            f"{origins[name]} = {value!r} cannot be used; give a number from {bounds[0]:g} to {bounds[1]:,}."
        )
    return value


def _toml(path: Path) -> dict[str, Any]:
    try:
        data = read_regular(path, limit=FILE_BYTES_LIMIT)
    except FileNotFoundError:
        if path.is_symlink():  # whoever made it meant what it leads to: its settings are not the defaults
            raise InvalidInput(f"{path} is a link to a file that is not there. Mend or remove it.") from None
        return {}
    except OSError as error:
        raise failure("read", path, error) from error
    if len(data) > FILE_BYTES_LIMIT:
        raise InvalidInput(
            f"{path} has more than {FILE_BYTES_LIMIT:,} bytes; settings have less. Mend or remove it."
        )
    try:
        return read_toml(data.decode("utf-8"))
    except ValueError as error:
        raise InvalidInput(f"{path} cannot be read as TOML: {error}. Mend or remove it.") from error


def _from_file(path: Path) -> dict[str, Any]:
    values = _toml(path)
    for name, value in values.items():
        if name not in _KEYS:
            raise InvalidInput(f"{path}: unknown setting {name!r}; known are {', '.join(sorted(_KEYS))}.")
        kind = _KEYS[name]
        if kind is float and is_whole(value):
            continue
        is_kind = isinstance(value, kind) and not (kind is int and isinstance(value, bool))
        if not is_kind or (kind is list and not all(isinstance(item, str) for item in value)):
            raise InvalidInput(f"{path}: {name} = {value!r} should be {_KINDS[kind]}.")
    return {name: value for name, value in values.items() if not isinstance(value, str) or value.strip()}


def _from_environment(name: str, variable: str, value: str) -> object:
    if _KEYS[name] is list:
        return [part.strip() for part in value.split(",") if part.strip()]
    if _KEYS[name] is bool:
        if value.strip().lower() in {"1", "true", "yes", "on"}:
            return True
        if value.strip().lower() in {"0", "false", "no", "off"}:
            return False
        raise InvalidInput(f"{variable}={value!r} is neither true nor false; write 1 or 0.")
    if _KEYS[name] is float:
        try:
            return float(value)
        except ValueError as error:
            raise InvalidInput(f"{variable}={value!r} is not a number.") from error
    if _KEYS[name] is int:
        try:
            return int(value)
        except ValueError as error:
            raise InvalidInput(f"{variable}={value!r} is not a whole number.") from error
    return value


def silence_runtime() -> None:
    """Keep the runtime of embedding models from telling its maker of this machine; to be called before it is loaded."""
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
