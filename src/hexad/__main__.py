"""`python -m hexad` and the `hexad` command: a hook at once, everything else through the command line."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module


def main(args: Sequence[str] | None = None) -> int:
    """Run what was typed, or `args`, and return its exit code."""
    args = sys.argv[1:] if args is None else list(args)
    # A hook has 150 ms of CPU, and loading the command line is a third of that.
    if args[:1] == ["hook"] and not {"-h", "--help"} & set(args):
        import_module("hexad.interfaces.hooks.run").run(args[1:])
    code: int = import_module("hexad.interfaces.cli.app.main").main(args)
    return code


if __name__ == "__main__":
    sys.exit(main())
