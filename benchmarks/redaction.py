"""How many real-shaped secrets and personal data the redaction rules find, what they flag by mistake, how fast.

    python -m benchmarks.redaction [--per-kind 12] [--seed 7] [--files 60] [--show] [--json results.json]

The samples of `redaction_samples` and `redaction_lookalikes` are generated from a seed by tables that know nothing of
the rules. Their author is the rules' author too: take the shares as upper bounds. When `detect-secrets` is installed
it is run over the same samples. `--files` of Python's own library are read too: code and texts of other people in which
nothing is secret but what stands there as an example.
"""

from __future__ import annotations

import argparse
import json
import sys
import sysconfig
import tempfile
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

from benchmarks.redaction_lookalikes import (
    env_samples,
    lookalike_samples,
    number_samples,
    personal_samples,
    sentence_samples,
)
from benchmarks.redaction_samples import Sample, secret_samples, word_samples
from hexad.redaction.policy import SENSITIVE
from hexad.redaction.redact import RedactionRules, find, project_rules, redact

DETECTORS = frozenset({"email", "phone", "card", "iban", "ssn", "ipv4", "ipv6"})
SECRET_TARGET, LOOKALIKE_TARGET, SPEED_TARGET_US_PER_KIB = 0.95, 0.03, 1000.0


def measure(samples: list[Sample], rules: RedactionRules) -> tuple[float, float, list[Sample]]:
    """Return the found share of what must go, the flagged share of the rest, and the samples that went wrong."""
    wrong = []
    counts: Counter[tuple[bool, bool]] = Counter()
    for sample in samples:
        redacted = redact(sample.text, rules=rules, salt=b"benchmark", path=sample.path)
        good = (sample.secret not in redacted.text) if sample.secret else not redacted.flags
        counts[sample.secret is not None, good] += 1
        if not good:
            wrong.append(sample)
    found = counts[True, True] / max(1, counts[True, True] + counts[True, False])
    flagged = counts[False, False] / max(1, counts[False, True] + counts[False, False])
    return found, flagged, wrong


def speed(samples: list[Sample]) -> dict[str, float]:
    """Return microseconds of CPU per KiB for short and long texts and for texts made to be slow."""
    everything = RedactionRules(pii=DETECTORS)
    source = Path(__file__).with_name("redaction_samples.py").read_text(encoding="utf-8")
    prose = " ".join(sample.text for sample in samples if sample.secret is None)
    texts = {
        "100 characters, nothing secret": [sample.text for sample in samples if sample.secret is None],
        "100 characters, one secret in each": [sample.text for sample in samples if sample.secret][:2000],
        "1 KiB of code": [source[at : at + 1024] for at in range(0, 20_480, 1024)] * 5,
        "look-alikes, one text": [prose],
        "whole file": [source] * 3,
        "whole file, all of PII": [source] * 3,
    }
    mib = 1 << 20
    for name, unit in {
        "a": "a", "=": "=", "base64": "QUJDREVGabcdefgh0123", "sk-": "sk-", "key=": "key=", "password ": "password ", "@": "a@", "://": "://a:",
        "digits": "4", "digit pairs": "4 ", "eyJ.": "eyJ.", "quotes": "token='", "BEGIN": "-----BEGIN PRIVATE KEY-----", "spaces": " ", "1.": "1.", "::": "a::",
    }.items():  # fmt: skip
        texts[f"1 MiB of {name!r}"] = [(unit * (mib // len(unit) + 1))[:mib]]
    result = {}
    for name, group in texts.items():
        started = time.process_time()
        for text in group:
            find(text, rules=everything if "PII" in name or "MiB" in name else RedactionRules())
        result[name] = (time.process_time() - started) * 1e6 / (sum(map(len, group)) / 1024)
    return result


def detect_secrets(samples: list[Sample]) -> dict[str, float] | None:
    """Return what `detect-secrets` finds and flags with its default settings, or None without it.

    Each sample is a file: its function for single lines leaves the entropy limits out.
    """
    try:
        from detect_secrets import SecretsCollection
        from detect_secrets.settings import default_settings
    except ImportError:
        return None
    counts: Counter[tuple[bool, bool]] = Counter()
    seconds = 0.0
    with tempfile.TemporaryDirectory() as folder, default_settings():
        for number, sample in enumerate(samples):
            # By its own name: the peer too looks at endings and at names of files.
            path = Path(folder) / str(number) / (Path(sample.path).name if sample.path else "text.txt")
            path.parent.mkdir()
            path.write_text(sample.text, encoding="utf-8")
            secrets = SecretsCollection()
            started = time.process_time()
            secrets.scan_file(str(path))
            seconds += time.process_time() - started
            counts[sample.secret is not None, bool(secrets)] += 1
    return {
        "found": counts[True, True] / max(1, counts[True, True] + counts[True, False]),
        "flagged": counts[False, True] / max(1, counts[False, True] + counts[False, False]),
        "us_per_kib": seconds * 1e6 / (sum(len(sample.text) for sample in samples) / 1024),
    }


def library_samples(count: int) -> list[Sample]:
    """Return some files of Python's own library, spread over all of it; in none of them is a secret of anybody's."""
    files = sorted(Path(sysconfig.get_paths()["stdlib"]).glob("**/*.py"))
    files = [file for file in files if "site-packages" not in file.parts and file.stat().st_size < 60_000]
    step = max(1, len(files) // max(1, count))
    return [
        Sample("file", "library", file.read_text(encoding="utf-8", errors="replace"), None, file.name)
        for file in files[::step][:count]
    ]


def beside(name: str, samples: list[Sample], rules: RedactionRules) -> dict[str, float | None]:
    """Return what we and the peer find of these samples, and what both flag of those that hold nothing."""
    found, flagged, _ = measure(samples, rules)
    peer = detect_secrets(samples) or {}
    wanted = any(sample.secret for sample in samples)
    clean = any(not sample.secret for sample in samples)
    shares = {
        "found": found if wanted else None,
        "flagged": flagged if clean else None,
        "peer_found": peer.get("found") if wanted else None,
        "peer_flagged": peer.get("flagged") if clean else None,
    }
    said = ", ".join(
        f"{key.replace('_', ' ')} {value:.2%}" for key, value in shares.items() if value is not None
    )
    print(f"{name:11} {said}, of {len(samples)}")
    return shares


def main() -> int:
    """Print the measurements; the exit code is 1 when a target is missed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--per-kind", type=int, default=12)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--files", type=int, default=60, help="files of Python's own library to look through")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--show", action="store_true", help="print every sample that went wrong")
    args = parser.parse_args()
    secrets = [*secret_samples(args.seed, args.per_kind), *lookalike_samples(args.seed, args.per_kind)]
    personal = list(personal_samples(args.seed, args.per_kind))
    found, flagged, wrong = measure(secrets, RedactionRules())
    pii_found, pii_flagged, pii_wrong = measure(personal, RedactionRules(secrets=False, pii=DETECTORS))
    times = speed(secrets)
    peer = detect_secrets(secrets)
    counts = Counter(sample.secret is not None for sample in secrets)
    print(
        f"secrets     found {found:.2%} of {counts[True]}, look-alikes flagged {flagged:.2%} of {counts[False]}"
    )
    print(f"personal    found {pii_found:.2%}, others flagged {pii_flagged:.2%}, of {len(personal)} in all")
    for name, value in times.items():
        print(f"speed       {value:8.1f} us/KiB  {name}")
    if peer:
        print(
            f"detect-secrets found {peer['found']:.2%}, flagged {peer['flagged']:.2%}, {peer['us_per_kib']:.0f} us/KiB"
        )
    sensitive = [sample for sample in personal if sample.secret is None or sample.kind in SENSITIVE]
    default = project_rules()
    more = {
        "sensitive": beside("sensitive", sensitive, replace(default, secrets=False)),
        "numbers": beside("numbers", [*number_samples(args.seed, args.per_kind)], default),
        "env": beside("env", [*env_samples(args.seed, args.per_kind)], default),
        "words": beside("words", [*word_samples(args.seed, args.per_kind), *sentence_samples()], default),
        "library": beside("library", library_samples(args.files), default),
    }
    for sample in [*wrong, *pii_wrong] if args.show else []:
        print(
            f"{'MISSED ' if sample.secret else 'FLAGGED'} {sample.kind} | {sample.context} | {sample.text[:200]!r}"
        )
    result = {
        "seed": args.seed, "secrets": {"found": found, "flagged": flagged}, "personal": {"found": pii_found, "flagged": pii_flagged},
        "us_per_kib": times, "detect_secrets": peer, "default_rules": more,
    }  # fmt: skip
    if args.json:
        args.json.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    # A text that is little else than a secret, and one made to be slow, may cost more than the target.
    usual = max(value for name, value in times.items() if "MiB" not in name and "one secret" not in name)
    missed = found < SECRET_TARGET or flagged > LOOKALIKE_TARGET or usual > SPEED_TARGET_US_PER_KIB
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
