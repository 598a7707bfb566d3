"""`python -m hexad` and the `hexad` command: a hook at once, everything else through the command line."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module

_INTERRUPTED = 130


def main(args: Sequence[str] | None = None) -> int:
    """Run what was typed, or `args`, and return its exit code."""
    args = sys.argv[1:] if args is None else list(args)
    _open_closed_streams()
    # A hook has 150 ms of CPU, and loading the command line is a third of that.
    if args[:1] == ["hook"] and not {"-h", "--help"} & set(args):
        import_module("hexad.interfaces.hooks.run").run(args[1:])
    try:
        run = import_module("hexad.interfaces.cli.app.main").main
    except KeyboardInterrupt:
        print("Error: Interrupted; nothing was done.", file=sys.stderr)
        return _INTERRUPTED
    code: int = run(args)
    return code


def _open_closed_streams() -> None:
    """Open what the caller closed of stdin, stdout and stderr (`<&-`) on the null device.

    What is opened next would take its number: a hook would read its own pipe as stdin, and for ever.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115 - open as long as the process


if __name__ == "__main__":
    sys.exit(main())
