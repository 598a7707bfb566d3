"""`hexad encrypt`, `decrypt` and `rekey`: one switch for everything in a store."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

import hexad
from hexad.config import find_store, load_settings
from hexad.interfaces.cli.app.base import Command, Function, NamedPath, confirm, note, state, warn
from hexad.interfaces.cli.output.progress import meter
from hexad.interfaces.cli.output.render import clean, count, show, size

if TYPE_CHECKING:
    from hexad import EncryptionReport


_PROVIDERS: Final = ("keyring", "key_file", "passphrase", "command")
_PASSPHRASE: Final = "passphrase"
_OWNER: Final = "owner"
_SHORTEST: Final = 8  # the library refuses what is shorter; here it is asked for again, before it is repeated


def provider_options(function: Function) -> Function:
    """Add the options that say where a new key is."""
    function = click.option(
        "--key-file",
        type=NamedPath(path_type=Path, dir_okay=False),
        metavar="FILE",
        help="Keep the key in this file, which is made unless it is there; best outside the project.",
    )(function)
    return click.option("--provider", type=click.Choice(_PROVIDERS), help="Where the key comes from.")(
        function
    )


def new_key(
    provider: str | None, key_file: Path | None, *, new: bool = False, user: bool = False
) -> str | Path | None:
    """Return what is to open a store from now on; a passphrase is asked for, twice, where there is a terminal."""
    if key_file is not None:
        if provider not in (None, "key_file"):
            raise click.UsageError(f"--key-file and --provider {provider} contradict each other.")
        return key_file
    new_passphrase = load_settings(None).new_passphrase if new else _passphrase(user)
    if provider != _PASSPHRASE or new_passphrase is not None:
        return None
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        name = "HEXAD_NEW_PASSPHRASE" if new else f"HEXAD_{'USER_' * user}PASSPHRASE"
        raise click.UsageError(f"There is no terminal to ask for the passphrase on: set {name}.")
    key: str = click.prompt(
        "New passphrase", hide_input=True, confirmation_prompt=True, err=True, value_proc=_long_enough
    )
    return key


def _long_enough(typed: str) -> str:
    if len(typed) < _SHORTEST:
        raise click.UsageError(f"A passphrase has at least {_SHORTEST} characters; better are six words.")
    return typed


def _meant(provider: str | None, key_file: Path | None, user: bool) -> str | None:
    """Return the provider that is asked for: by the command, else by the hexad.toml of the store."""
    if provider is not None or key_file is not None or user:
        return provider
    named = load_settings(find_store(Path(state().store or "."))).encryption.get("provider")
    return str(named) if named else None


def said_key(provider: str, key_file: str | None) -> str:
    """Return what a person must know about a key from now on."""
    where = {
        "keyring": "in this user's keyring",
        "key_file": f"in {clean(key_file or '')}",
        "passphrase": "made of the passphrase",
        "command": "what HEXAD_KEY_COMMAND prints",
    }.get(provider, "held by a program")
    return (
        f"Encrypted. The key is {where}; without it nobody opens the store, so keep a copy of it elsewhere."
    )


def warn_of_variable(key_file: str | None) -> None:
    """Say that a variable names another key file than the one that opens the store from now on."""
    settings = load_settings(None)
    if None not in (key_file, settings.key_file_variable) and Path(str(key_file)) != settings.key_file:
        warn(
            f"{settings.key_file_variable} names {clean(str(settings.key_file))}, which does not open the store: "
            "leave it out, or set it to the file above."
        )


def warn_of_place(store: str | Path, path: Path | None) -> None:
    """Say that a key that was given as a file lies in the project, and so wherever the project goes."""
    if path is not None and path.expanduser().resolve().is_relative_to(Path(store).resolve().parent):
        warn(
            "The key file is in the project: whoever gets a copy of that, a backup or a commit, gets the key with it. "
            "Keep it elsewhere: `hexad rekey --wrap-only --key-file FILE`."
        )


_dry_run = click.option("--dry-run", is_flag=True, help="Only report how much would be written.")
_user = click.option(
    "--user", is_flag=True, help="The user layer, with a key of its own, in place of the project's store."
)


@click.command(cls=Command)
@provider_options
@_dry_run
@_user
def encrypt(*, provider: str | None, key_file: Path | None, dry_run: bool, user: bool) -> None:
    """Encrypt all of the store.

    Memories, vectors, full text, ledger, experience, caches, documents and exports are written anew beside the
    store, checked, and then take its place; nobody else may have it open. The key comes from --provider, else what
    hexad.toml or the environment names, else the system's keyring, or a key file without one. The old files are
    overwritten, which means little on an SSD: see docs/encryption.md.
    """
    _require_owner()
    with _shown("Encrypting") as progress:
        _say(
            hexad.encrypt(
                _place(user),
                provider=provider,
                key=None if dry_run else new_key(_meant(provider, key_file, user), key_file, user=user),
                dry_run=dry_run,
                user=user,
                progress=progress,
            ),
            key_file,
            user=user,
        )


@click.command(cls=Command)
@_dry_run
@_user
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
def decrypt(*, dry_run: bool, yes: bool, user: bool) -> None:
    """Decrypt the store.

    Afterwards whoever can read its files can read everything in it.
    """
    _require_owner()
    if not dry_run and hexad.encryption_state(_place(user), user=user) is not None:
        confirm(
            f"Decrypt the {'user layer' if user else 'store'}, so that whoever can read its files can read all of it?",
            yes=yes,
            without="see with --dry-run what would be written",
        )
    with _shown("Decrypting") as progress:
        _say(
            _with_passphrase(
                lambda key: hexad.decrypt(
                    _place(user), key=key, dry_run=dry_run, user=user, progress=progress
                ),
                user=user,
            )
        )


@click.command(cls=Command)
@provider_options
@click.option("--wrap-only", is_flag=True, help="Change only the provider or the passphrase, in a moment.")
@_dry_run
@_user
def rekey(*, provider: str | None, key_file: Path | None, wrap_only: bool, dry_run: bool, user: bool) -> None:
    """Give the store new keys.

    Everything is written anew, and the old key opens nothing of it any more; backups that were made before keep
    theirs. Without --provider or --key-file the provider stays. A new passphrase is asked for, or is
    HEXAD_NEW_PASSPHRASE; a new command is HEXAD_NEW_KEY_COMMAND. With --wrap-only what was written stays as it is:
    whoever kept the old .hexad/encryption.json and the old key can still read it.
    """
    _require_owner()
    there = hexad.encryption_state(_place(user), user=user)
    stays = provider is None and key_file is None and there is not None
    chosen = there.provider if stays and there is not None else provider
    if there is not None and there.provider == _PASSPHRASE and _passphrase(user) is None:
        _ask_for_present(user)
    new = None if dry_run else new_key(chosen, key_file, new=True)
    with _shown("Encrypting anew") as progress:
        _say(
            _with_passphrase(
                lambda key: hexad.rekey(
                    _place(user),
                    key=key,
                    new_key=new,
                    provider=provider,
                    wrap_only=wrap_only,
                    dry_run=dry_run,
                    user=user,
                    progress=progress,
                ),
                user=user,
            ),
            key_file,
            user=user,
        )


def _place(user: bool) -> str | None:
    """Return what is meant: the project's store, or the user layer wherever that is."""
    return None if user else state().store


def _passphrase(user: bool) -> str | None:
    settings = load_settings(None)
    return settings.user_keys["passphrase"] if user else settings.passphrase


def _ask_for_present(user: bool) -> None:
    """Ask for the passphrase that opens the store, before a new one; raises `AccessDenied` for a wrong one."""
    if state().ask_passphrase(user=user):
        hexad.decrypt(_place(user), key=state().passphrase, dry_run=True, user=user)


def _with_passphrase(
    work: Callable[[str | None], hexad.EncryptionReport], *, user: bool
) -> hexad.EncryptionReport:
    try:
        return work(state().passphrase)
    except hexad.AccessDenied:
        if not state().ask_passphrase(user=user):
            raise
    return work(state().passphrase)


@contextmanager
def _shown(label: str) -> Iterator[Callable[[hexad.EncryptionProgress], None]]:
    with meter(label, clock=hexad.SystemClock(), unit="bytes") as advance:
        yield lambda progress: advance(progress.done, progress.total, progress.current)


def _require_owner() -> None:
    role = state().role if state().role is not None else load_settings(None).role
    if role not in (None, _OWNER):
        raise hexad.AccessDenied(
            f"How the store is encrypted is not for the role {role!r}. Leave --role and HEXAD_ROLE out."
        )


def _say(report: hexad.EncryptionReport, path: Path | None = None, *, user: bool = False) -> None:
    show(report, table=_say_lines(report, user, path))


def _say_lines(report: EncryptionReport, user: bool, path: Path | None) -> Iterator[str]:
    what = f"{count(report.files, 'file')}, {size(report.bytes)}"
    if report.dry_run and not report.files:
        yield "encryption.json alone would be written anew; what it opens stays as it is"
    elif report.dry_run:
        yield f"{what} would be written anew; that needs {size(report.needed_bytes)} of free space"
    elif report.provider is None:
        yield f"Decrypted: {what}"
    else:
        yield f"{what} written anew" if report.files else "The key was changed"
        yield said_key(report.provider, report.key_file)
        if not user:
            warn_of_variable(report.key_file)
            warn_of_place(report.path, path)
    for name in report.left:
        note(f"{clean(name)} is no part of a store, and stays as it is.")
