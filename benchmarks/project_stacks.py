"""How right the detector is about real packages: what it says of each against what stands written down.

    python -m benchmarks.project_stacks PACKAGES [--half development] [--show] [--json results.json]

PACKAGES is a folder of unpacked source packages, such as `pip download --no-binary :all: --no-deps NAME` fetches them.
The answers, in `data/project_stacks.*.toml`, were written down by reading the packages; of the unseen half before the
detector had seen them. Compared are pairs of a key and a value, for the keys below. A package that is not there is named.
"""

from __future__ import annotations

import argparse
import json
import sys
import tomllib
from pathlib import Path

from hexad.layers.project.detection import scan_folder

DATA = Path(__file__).with_name("data")
HALVES = ("development", "validation", "unseen")
KEYS = frozenset(
    "language build_backend package_manager web_framework ui_framework database orm queue cli_framework http_client "
    "validation async_runtime bundler styling test_framework linter formatter type_checker documentation task_runner "
    "commit_hooks ci container services infrastructure deployment".split()
)
TARGET = 0.95


def pairs_of(answers: dict[str, list[str]]) -> set[tuple[str, str]]:
    """Return each key with each of its values."""
    return {(key, value) for key, values in answers.items() for value in values}


def detected(folder: Path) -> set[tuple[str, str]]:
    """Return what the detector says of a package, by the keys that are compared."""
    return {
        (finding.key, str(value))
        for finding in scan_folder(folder).findings
        if finding.key in KEYS
        for value in (finding.value if isinstance(finding.value, list) else [finding.value])
    }


def measure(packages: Path, half: str, *, show: bool) -> dict[str, object]:
    """Return precision and recall over all pairs of a half, and which packages are missing."""
    answers = tomllib.loads((DATA / f"project_stacks.{half}.toml").read_text(encoding="utf-8"))
    right = wrong = missed = 0
    missing = []
    for name, expected in answers.items():
        if not (packages / name).is_dir():
            missing.append(name)
            continue
        told, truth = detected(packages / name), pairs_of(expected)
        right, wrong, missed = (
            right + len(told & truth),
            wrong + len(told - truth),
            missed + len(truth - told),
        )
        for what, pairs in (("wrong", told - truth), ("missed", truth - told)):
            for key, value in sorted(pairs) if show else ():
                print(f"{name}: {what}: {key} = {value}")
    return {
        "packages": len(answers) - len(missing),
        "pairs": right + missed,
        "precision": round(right / max(1, right + wrong), 3),
        "recall": round(right / max(1, right + missed), 3),
        "missing": missing,
    }


def main() -> int:
    """Print both halves, or one; exit with 1 when a figure is below the target."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("packages", type=Path)
    parser.add_argument("--half", choices=HALVES, action="append")
    parser.add_argument("--show", action="store_true", help="name what is wrong and what is missed")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    results = {
        half: measure(arguments.packages, half, show=arguments.show) for half in arguments.half or HALVES
    }
    for half, figures in results.items():
        print(f"{half}: {figures}")
    if arguments.json is not None:
        arguments.json.write_text(json.dumps(results, indent=1), encoding="utf-8")
    met = all(
        float(str(figures[name])) >= TARGET
        for figures in results.values()
        for name in ("precision", "recall")
    )
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
