"""Hexad, detect-secrets and CredSweeper over the same published texts: what each finds, what each flags by mistake.

    python -m benchmarks.secret_scanners --gitleaks DIR --tests DIR --rules DIR --rules DIR --samples DIR \\
        --messages DIR --messages DIR --files DIR --detect-secrets PYTHON --credsweeper PYTHON [--half unseen] [--show]

Each DIR is what somebody unpacked: `--gitleaks` the repository of gitleaks or of a project with its kind of tests,
`--tests` that of detect-secrets, `--rules` those of Nosey Parker and Kingfisher, `--samples` that of CredSweeper,
`--detectors` a folder of detectors in Go (those of TruffleHog, of Veles), `--snapshots` secretlint, `--results` LeakTK's patterns, `--messages` programs
with their translations, `--files` ordinary files. PYTHON is the interpreter of an environment with the peer. A text
counts as found or flagged by a peer when the peer reports anything in it; by Hexad only when nothing of the secret is left.

The texts belong to two halves by where they are from (`published_secrets`): rules are made with the development half
only, and `--show` shows no other.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

from benchmarks.halves import DEVELOPMENT, HALVES
from benchmarks.published_messages import translations
from benchmarks.published_rules import detector_tokens, scan_results, snapshots
from benchmarks.published_secrets import (
    LANGUAGES,
    Text,
    bare_tokens,
    credsweeper_negatives,
    credsweeper_pairs,
    detect_secrets_negatives,
    gitleaks_negatives,
    ordinary_files,
    rule_negatives,
)
from benchmarks.secret_disguises import disguised
from hexad.redaction.policy import project_rules
from hexad.redaction.redact import redact

TARGETS = {"spoken": 0.95, "disguises": 0.80, "tokens": 0.98, "negatives": 0.05, "files": 0.005}

_DETECT_SECRETS = """
import pathlib, sys
from detect_secrets import SecretsCollection
from detect_secrets.settings import default_settings
with default_settings():
    for path in sorted(pathlib.Path(sys.argv[1]).glob("*/*")):
        secrets = SecretsCollection()
        secrets.scan_file(str(path))
        if secrets:
            print(path.parent.name)
"""


def group_of(text: Text) -> str:
    """Return the line of the table that a text belongs to."""
    if text.kind in ("spoken", "harmless"):
        return text.kind if text.language in LANGUAGES else f"{text.kind}, other languages"
    return (
        f"{text.kind} of {text.source.split('/')[0]}" if text.kind in ("negatives", "tokens") else text.kind
    )


def hexad_hits(texts: Sequence[Text]) -> set[int]:
    """Return which texts Hexad takes the secret out of, or flags where there is none."""
    rules = project_rules()
    hits = set()
    for number, text in enumerate(texts):
        redacted = redact(text.text, rules=rules, salt=b"benchmark", path=text.name)
        pieces = [piece for piece in (text.secret or "").split("\n") if len(piece) >= 3]
        if all(piece not in redacted.text for piece in pieces) if pieces else bool(redacted.flags):
            hits.add(number)
    return hits


def _written(texts: Sequence[Text], folder: Path) -> None:
    for number, text in enumerate(texts):
        path = folder / str(number) / text.name
        path.parent.mkdir()
        path.write_text(text.text, encoding="utf-8", errors="replace")


def detect_secrets_hits(texts: Sequence[Text], python: Path) -> set[int]:
    """Return in which texts detect-secrets reports anything, with its default settings."""
    with tempfile.TemporaryDirectory() as folder:
        _written(texts, Path(folder))
        done = subprocess.run(
            [python, "-c", _DETECT_SECRETS, folder], check=True, capture_output=True, text=True
        )
    return {int(line) for line in done.stdout.split()}


def credsweeper_hits(texts: Sequence[Text], python: Path) -> set[int]:
    """Return in which texts CredSweeper reports anything; prose and code each in the mode that is meant for it."""
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as results:
        _written(texts, Path(folder))
        hits: set[int] = set()
        prose = bool(texts) and texts[0].kind in ("spoken", "harmless", "pairs")
        report = Path(results) / "report.json"
        command: list[str | Path] = [
            python,
            "-m",
            "credsweeper",
            "--path",
            folder,
            "--save-json",
            report,
            "--no-stdout",
        ]
        subprocess.run([*command, "--doc"] if prose else command, check=True, capture_output=True)
        for finding in json.loads(report.read_text(encoding="utf-8")) if report.exists() else ():
            for line in finding["line_data_list"]:
                hits.add(int(Path(line["path"]).parent.name))
    return hits


def drawn(texts: Iterable[Text], most: int) -> list[Text]:
    """Return at most `most` different texts, by their hash."""
    ordered = sorted(
        set(texts), key=lambda text: hashlib.sha256(text.text.encode("utf-8", "replace")).digest()
    )
    return ordered[:most]


def gathered(args: argparse.Namespace) -> dict[tuple[str, str], list[Text]]:
    """Return the texts by the line of the table and the half."""
    texts: list[Text] = [*disguised(args.seed, args.each)]
    for reader, folders in (
        (gitleaks_negatives, args.gitleaks),
        (detect_secrets_negatives, args.tests),
        (bare_tokens, args.rules),
        (rule_negatives, args.rules),
        (credsweeper_negatives, args.samples),
        (credsweeper_pairs, args.samples),
        (detector_tokens, args.detectors),
        (snapshots, args.snapshots),
        (scan_results, args.results),
        (translations, args.messages),
    ):
        known = set[str]()
        for folder in folders:
            # A project that began as a copy of another has its tests too.
            read = [text for text in reader(folder) if text.text not in known or text.secret is not None]
            known |= {text.text for text in read}
            texts += read
    texts += ordinary_files(args.files, count=args.file_count) if args.files else ()
    groups: dict[tuple[str, str], list[Text]] = defaultdict(list)
    for text in texts:
        groups[group_of(text), text.half].append(text)
    return {key: drawn(group, args.most) for key, group in sorted(groups.items())}


def main() -> int:
    """Print the shares of every kind of text and half, and write them where `--json` says."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name in (
        "gitleaks",
        "tests",
        "rules",
        "samples",
        "detectors",
        "snapshots",
        "results",
        "messages",
        "files",
    ):
        parser.add_argument(f"--{name}", type=Path, action="append", default=[])
    parser.add_argument("--file-count", type=int, default=3_000)
    parser.add_argument("--detect-secrets", type=Path, help="Python of an environment with detect-secrets")
    parser.add_argument("--credsweeper", type=Path, help="Python of an environment with credsweeper")
    parser.add_argument("--half", choices=HALVES, action="append", help="default: both")
    parser.add_argument("--seed", type=int, default=11)
    parser.add_argument("--each", type=int, default=10, help="secrets in every disguise")
    parser.add_argument("--most", type=int, default=2_000, help="texts of one kind and half")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--show", action="store_true", help="print what went wrong with the development half")
    args = parser.parse_args()
    result = []
    for (group, half), texts in gathered(args).items():
        if half not in (args.half or HALVES):
            continue
        started = time.process_time()
        hits = hexad_hits(texts)
        row = {
            "kind": group, "half": half, "texts": len(texts), "secret": texts[0].secret is not None,
            "hexad": len(hits) / len(texts), "us_per_text": (time.process_time() - started) * 1e6 / len(texts),
            "detect_secrets": len(detect_secrets_hits(texts, args.detect_secrets)) / len(texts) if args.detect_secrets else None,
            "credsweeper": len(credsweeper_hits(texts, args.credsweeper)) / len(texts) if args.credsweeper else None,
        }  # fmt: skip
        result.append(row)
        told = ", ".join(
            f"{name} {row[name]:.1%}"
            for name in ("hexad", "detect_secrets", "credsweeper")
            if row[name] is not None
        )
        print(
            f"{group:34} {half:12} {'found' if row['secret'] else 'flagged':8} {told}, of {len(texts)}",
            flush=True,
        )
        for number, text in enumerate(texts) if args.show and half == DEVELOPMENT else ():
            if (number in hits) != (text.secret is not None):
                shown = text.text if text.kind != "files" else ""
                print(f"    {text.source} {text.language} {text.secret!r} | {shown[:300]!r}")
    if args.json:
        args.json.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
