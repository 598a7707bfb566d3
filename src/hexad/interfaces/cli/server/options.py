"""Where a server listens and who may call it: options that all of them have."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from hexad.interfaces.cli.app.base import NamedPath

Function = TypeVar("Function", bound=Callable[..., Any])


def listening_options(*, port: int) -> Callable[[Function], Function]:
    """Return the decorator that adds them to a command; `port` is where it listens by default."""
    options = (
        click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on."),
        click.option(
            "--port",
            type=click.IntRange(0, 65_535),
            default=port,
            show_default=True,
            help="Port; 0 takes a free one.",
        ),
        click.option(
            "--certificate", type=NamedPath(path_type=Path), metavar="FILE", help="TLS certificate, PEM."
        ),
        click.option(
            "--key",
            type=NamedPath(path_type=Path),
            metavar="FILE",
            help="Private key of the certificate, PEM.",
        ),
        click.option(
            "--plain-text",
            is_flag=True,
            help="Listen beyond this machine without TLS: something in front has it.",
        ),
        click.option(
            "--allow-host",
            "allow_hosts",
            multiple=True,
            metavar="HOST:PORT",
            help="Another name that requests may call it; repeatable.",
        ),
        click.option(
            "--allow-origin",
            "allow_origins",
            multiple=True,
            metavar="URL",
            help="A web page's origin that may ask; repeatable.",
        ),
    )

    def decorate(function: Function) -> Function:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate
