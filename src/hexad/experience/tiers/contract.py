"""The contract that is in force: kept in the store, so that every program that has it open goes by it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from hexad.core.actor import AS_OWNER, Actor
from hexad.core.arguments import is_whole, json_fault, parse_path, quoted, read_regular, read_toml
from hexad.core.clock import Clock
from hexad.core.json_types import JSONValue
from hexad.database.codec import parse
from hexad.database.connection import Database
from hexad.database.encryption.secrets_file import holds_keys
from hexad.database.meta import DOCUMENT, SET_CONTRACT, Meta
from hexad.errors import AccessDenied, HexadError, IntegrityError, InvalidInput, LimitExceeded, NotFound
from hexad.experience.values.contract import LifecycleContract, LimitSource, check_placed, parse_contract

FILE_BYTES_LIMIT: Final = 1 << 20
CONTRACT: Final = "lifecycle_contract"
_GIVEN: Final = LimitSource.CONTRACT
_WINDOW_LIMIT: Final = (1 << 31) - 1


class Contracts:
    """The one contract of a store, or none. `mask` takes secrets out of what it says besides its limits."""

    def __init__(self, db: Database, *, clock: Clock, actor: Actor, mask: Callable[[str], str]) -> None:
        self._db, self._meta, self._mask = db, Meta(db), mask
        self._clock, self._actor = clock, actor
        self._known: tuple[str, LifecycleContract] = ("", LifecycleContract())

    def current(self) -> LifecycleContract:
        """Return what is in force: the contract that was set last, by whichever program, else the minimums."""
        text = self._meta.get(CONTRACT) or ""
        known, contract = self._known
        if text != known:
            contract = _stored_contract(text) if text else LifecycleContract()
            self._known = text, contract
        return contract

    def set(self, source: Mapping[str, object] | str | Path | None) -> LifecycleContract:
        """Put a contract in force, from a mapping or a file, or with None end the one there is.

        Raises `LimitExceeded` for a limit below the group's minimum, `InvalidInput` for what cannot be read as a
        contract and for limits that stand elsewhere than below `resources.memory`, `NotFound` for a file that is not
        there, `AccessDenied` for anyone but the store's owner; then nothing was changed.
        """
        if not self._actor.is_owner:
            raise AccessDenied(
                f"The contract binds whoever works in this store, and {self._actor.describe()} is not its owner.",
                remedy=AS_OWNER,
            )
        self._db.require_writable()
        contract = (
            LifecycleContract() if source is None else self._without_secrets(parse_contract(_mapping(source)))
        )
        check_placed(contract)
        text = json.dumps(contract.document, sort_keys=True) if contract.active else ""
        # Its limits alone: the ledger takes this note for good, where no erasure reaches what else a contract says.
        limits = {name: value for name, value in contract.to_dict().items() if name != DOCUMENT}
        detail: dict[str, JSONValue] = {"by": self._actor.describe(), "contract": limits}
        with self._db.transaction():
            self._meta.put(CONTRACT, text)
            self._meta.log(SET_CONTRACT, detail, at=self._clock.now())
        return self.current()

    def remove_texts(self, *, dry_run: bool) -> int:
        """Take out what the contract says besides its limits, in older notes too; return how many contracts said more.

        The limits stay in force, as policies of spaces do.
        """
        contract = self.current()
        stored = {
            name: getattr(contract, name) for name, source in contract.sources.items() if source is _GIVEN
        }
        limits: dict[str, JSONValue] = {"resources": {"memory": stored}}
        more = contract.active and contract.document != limits
        if not dry_run:
            with self._db.transaction():
                if more:
                    self._meta.put(CONTRACT, json.dumps(limits, sort_keys=True))
                self._meta.remove_from_log(SET_CONTRACT, f"$.contract.{DOCUMENT}")
        return int(more)

    def _without_secrets(self, contract: LifecycleContract) -> LifecycleContract:
        text = json.dumps(contract.document, sort_keys=True, ensure_ascii=False, indent=1)
        masked = self._mask(text)
        if masked == text:
            return contract
        try:
            return parse_contract(json.loads(masked))
        except (ValueError, HexadError) as error:
            raise InvalidInput(
                "The contract holds what looks like a secret, and cannot be read without it; take it out."
            ) from error


def _mapping(value: Mapping[str, object] | str | Path) -> Mapping[str, object]:
    """Return what a contract is read from: the mapping itself, or a file's, JSON or TOML by its name."""
    if not isinstance(value, str | Path):
        return value
    path = parse_path(value, "contract")
    try:
        data = read_regular(path, limit=FILE_BYTES_LIMIT)
    except FileNotFoundError:
        raise NotFound(f"There is no contract at {str(value)!r}.") from None
    except (OSError, ValueError) as error:
        raise InvalidInput(f"The contract {str(value)!r} cannot be read: {error}.") from error
    if len(data) > FILE_BYTES_LIMIT:
        raise InvalidInput(
            f"The contract {path} has more bytes than are read; at most {FILE_BYTES_LIMIT:,} are read."
        )
    if holds_keys(data):
        raise InvalidInput(f"{path} holds a store's own keys and is no contract.")
    try:
        text = data.decode("utf-8-sig")
        document: object = read_toml(text) if path.suffix.lower() == ".toml" else json.loads(text)
    except (ValueError, RecursionError) as error:  # what both decoders raise is one, and a wrong encoding
        raise InvalidInput(
            f"The contract {path} cannot be read: {json_fault(error)}. Write JSON, or TOML as *.toml."
        ) from error
    if not isinstance(document, dict):
        raise InvalidInput(f"The contract {path} holds {quoted(document)} where it should say `resources`.")
    return document


def _stored_contract(text: str) -> LifecycleContract:
    try:
        return parse_contract(parse(text))
    except IntegrityError:
        raise
    except HexadError as error:
        raise IntegrityError(
            f"The contract that this store keeps cannot be used: {error}",
            remedy="Set it anew with `{hx.xdb.set_contract}`.",
        ) from error


def window_tokens(value: int | None, contract: LifecycleContract) -> int | None:
    """Return the size of a context window as it was given; raises `InvalidInput`, `LimitExceeded` over a contract's."""
    if value is None:
        return None
    if not is_whole(value, 1, _WINDOW_LIMIT):
        raise InvalidInput(
            f"max_context_tokens = {quoted(value)} is no number of tokens from 1 to {_WINDOW_LIMIT:,}.",
            argument="max_context_tokens",
        )
    if contract.active and value > contract.context_window_tokens:
        raise LimitExceeded(
            f"max_context_tokens = {value:,} is more than the contract's context_window_tokens, "
            f"{contract.context_window_tokens:,}; ask for no more, or change the contract.",
            argument="max_context_tokens",
        )
    return value
