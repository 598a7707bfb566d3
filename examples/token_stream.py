"""Record what a model generates, token by token with a concept, and steer it on one of them.

    python examples/token_stream.py --url http://127.0.0.1:11434/v1 --model llama3.2 "How does a canal lock work?"

The model is any that streams OpenAI's chat completions with `logprobs` (Ollama, vLLM, llama.cpp, a gateway). The
concept is how uncertain the model was: the entropy of the likeliest tokens in each place, 0 to 1. Where it passes
`--steer-at`, the rest is generated anew from there without sampling. Tokens go to the experience database, what
steered to the ledger.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.request import Request, urlopen
from uuid import uuid4

import hexad
from hexad.audit import AuditLogWriter, HushController


def generated(
    url: str, model: str, messages: list[dict[str, str]], **options: Any
) -> Iterator[dict[str, Any]]:
    """Yield the tokens of an answer as they come, each with its `logprob` and the likeliest others in its place."""
    body = {
        "model": model,
        "messages": messages,
        "stream": True,
        "logprobs": True,
        "top_logprobs": 5,
        **options,
    }
    key = os.environ.get("OPENAI_API_KEY", "none")
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {key}"}
    request = Request(f"{url.rstrip('/')}/chat/completions", data=json.dumps(body).encode(), headers=headers)
    with urlopen(request, timeout=60) as answer:
        for line in answer:
            data = line.strip().removeprefix(b"data: ")
            if data.startswith(b"{"):
                for choice in json.loads(data)["choices"]:
                    yield from (choice.get("logprobs") or {}).get("content") or []


def uncertain(token: Mapping[str, Any]) -> dict[str, float]:
    """Return the entropy of the likeliest tokens, as a share of the most that there could be."""
    weights = [math.exp(each["logprob"]) for each in token["top_logprobs"]]
    shares = [weight / sum(weights) for weight in weights if weight > 0]
    entropy = -sum(share * math.log(share) for share in shares)
    return {"uncertain": entropy / math.log(len(shares)) if len(shares) > 1 else 0.0}


def finite(text: str) -> float:
    """Return a number; NaN would be passed by no doubt, and nothing ever steered."""
    if not math.isfinite(value := float(text)):
        raise argparse.ArgumentTypeError(f"{text!r} is not a finite number")
    return value


def main() -> None:
    """Ask once, and say what was recorded."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("question")
    parser.add_argument("--url", required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--store", default=".", help="a folder; the store is in .hexad below it")
    parser.add_argument("--steer-at", type=finite, default=0.9, help="of 0 to 1; default: 0.9")
    given = parser.parse_args()

    def steer(activations: Mapping[str, float]) -> list[dict[str, Any]]:
        return [{"directive": "no sampling"}] if activations["uncertain"] > given.steer_at else []

    asked = {"role": "user", "content": given.question}
    text, ids, options, tick, steered = "", dict[str, int](), dict[str, Any](), 1, True
    with hexad.open(given.store) as hx, AuditLogWriter(hx.path / "audit", given.model) as ledger:
        session = hx.xdb.start_session(f"{given.model} {uuid4()}").id
        hx.xdb.on_input(given.question, "user")
        with ledger.recorder() as recorder:
            controller = HushController(recorder, evaluate=uncertain, steer=steer)
            while steered:
                steered = False
                before = [{"role": "assistant", "content": text}] if text else []  # the model goes on from it
                for token in generated(given.url, given.model, [asked, *before], **options):
                    word, tick = token["token"], tick + 1
                    text += word
                    hx.xdb.on_output_token(word, ids.setdefault(word, len(ids)), uncertain(token))
                    steered = bool(controller.evaluate_and_steer(token, session, tick, word)) and not options
                    if steered:
                        options["temperature"] = 0
                        break  # the connection is closed, and the rest asked for anew
        hx.xdb.flush()
        print(text)
        print(
            f"{tick - 1} tokens, steered {'once' if options else 'never'}; session {session}", file=sys.stderr
        )


if __name__ == "__main__":
    try:
        main()
    except (hexad.HexadError, OSError, ValueError) as error:  # a wrong value, or no model at this address
        sys.exit(f"{type(error).__name__}: {error}")
