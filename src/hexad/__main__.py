"""`python -m hexad`: the same as the `hexad` command."""

from __future__ import annotations

import sys

from hexad.interfaces.cli.app.main import main

if __name__ == "__main__":
    sys.exit(main())
