"""Found by Python programs that a test starts while a mutant is tried."""

import os
import sys
from pathlib import Path

if "MUTANT" in os.environ:
    sys.path.insert(0, str(Path(__file__).parents[2]))
    from mutation.hook import install_inherited

    sys.path.pop(0)
    install_inherited()
