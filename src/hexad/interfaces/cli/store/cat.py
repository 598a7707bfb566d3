"""`hexad cat`: what an encrypted file of a store says."""

from __future__ import annotations

import hashlib

import click

from hexad.interfaces.cli.app.base import Command, print_json, state


@click.command(cls=Command)
@click.argument("file")
def cat(file: str) -> None:
    """Write what an encrypted FILE of the store says.

    Working copies, space files, exports, packages of evidence and segments of the stream: their content goes to
    standard output as it is, and no file is written. With --json only its length and its SHA-256.
    """
    digest, size = hashlib.sha256(), 0
    with state().opened() as hx:
        for piece in hx.decrypted(file):
            digest.update(piece)
            size += len(piece)
            if not state().json:
                click.echo(piece, nl=False)
    if state().json:
        print_json({"file": file, "bytes": size, "sha256": digest.hexdigest()})
