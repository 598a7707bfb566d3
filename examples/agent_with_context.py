"""An agent's step with a project's memory before it, and a deadline over both.

    python examples/agent_with_context.py SPACE TOPIC QUESTION [--deadline-ms 15000] [--command CMD | --model MODEL]

The agent is a command that reads the prompt on stdin (`--command`), a model by way of pydantic-ai (`--model`, extra
`llm`), or, without either, a LOCAL STAND-IN: no model at all, but a function that quotes the bundle, so that the
example runs without a key and a network.
"""

from __future__ import annotations

import argparse
import asyncio
import shlex
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable

import hexad

Agent = Callable[[str, hexad.ProjectContext, float], str]
"""Answers a prompt within so many seconds; raises `TimeoutError` when it cannot, `AgentFailed` when it failed."""


class AgentFailed(Exception):
    """There is no answer, and why."""


def run_agent(
    hx: hexad.Hexad, agent: Agent, *, space: str, topic: str, question: str, deadline_ms: int
) -> str:
    """Return the agent's answer to `question`, given what `space` knows about `topic`.

    The deadline covers the recall and the step. Raises `TimeoutError` when it passes.
    """
    ends = time.monotonic() + deadline_ms / 1000

    # The hook recalls at each call of `step`, and hands what it found over as `context`.
    @hx.use_context(space, topic, limit=3, include_raw=True, deadline_ms=deadline_ms)
    def step(question: str, context: hexad.ProjectContext) -> str:
        left_s = ends - time.monotonic()
        if left_s <= 0:
            raise TimeoutError
        return agent(context.prepend(question), context, left_s)

    return step(question)


def command_agent(command: str) -> Agent:
    """Return an agent that is another program."""

    def answer(prompt: str, context: hexad.ProjectContext, left_s: float) -> str:
        del context
        try:
            done = subprocess.run(
                shlex.split(command), input=prompt, capture_output=True, text=True, timeout=left_s, check=True
            )
        except subprocess.TimeoutExpired as error:
            raise TimeoutError from error
        except subprocess.CalledProcessError as error:
            raise AgentFailed(f"{command!r} ended with {error.returncode}: {error.stderr.strip()}") from error
        except (OSError, ValueError) as error:
            raise AgentFailed(f"{command!r} cannot be run: {error}; check its name") from error
        return done.stdout.strip()

    return answer


def model_agent(model: str) -> Agent:
    """Return an agent that is a model; its provider's key is in the environment."""
    try:
        from pydantic_ai import Agent as ModelAgent
    except ImportError as error:
        raise AgentFailed(
            f"a model is asked by way of pydantic-ai: pip install 'hexad[llm]' ({error})"
        ) from error
    asked = ModelAgent(
        model,
        system_prompt="You answer questions about a repository from the context given.",
        defer_model_check=True,
    )

    def answer(prompt: str, context: hexad.ProjectContext, left_s: float) -> str:
        del context

        async def within() -> str:
            return (await asyncio.wait_for(asked.run(prompt), left_s)).output

        try:
            return asyncio.run(within())
        except TimeoutError:
            raise
        except Exception as error:  # of a provider's package: no key, no network, no such model
            raise AgentFailed(f"{model!r} did not answer: {error}") from error

    return answer


def stand_in(prompt: str, context: hexad.ProjectContext, left_s: float) -> str:
    """Answer without a model: say what the bundle holds, word for word."""
    del prompt, left_s
    if not context.bundle.memories:
        return f"[local stand-in, no model was asked] Nothing is known about {context.topic!r}."
    lines = ["[local stand-in, no model was asked] From memory:"]
    for memory in context.bundle.memories:
        said = " ".join(memory.summary_short.split())
        lines += textwrap.wrap(
            f"- {memory.path} ({memory.id}): {said}", 100, subsequent_indent="  ", break_long_words=False
        )
    return "\n".join(lines)


def main() -> int:
    """Run the example; 0 with an answer, 1 without one."""
    parser = argparse.ArgumentParser(description="Ask an agent that knows what a space knows.")
    parser.add_argument("space")
    parser.add_argument("topic")
    parser.add_argument("question")
    parser.add_argument("--deadline-ms", type=int, default=15_000)
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--command", help="a program that reads the prompt on stdin and prints its answer")
    which.add_argument("--model", help="a model for pydantic-ai, such as openai:gpt-4o-mini")
    given = parser.parse_args()
    try:
        with hexad.open(embedder=None, background=False, create=False) as hx:
            if given.command:
                agent = command_agent(given.command)
            else:
                agent = model_agent(given.model) if given.model else stand_in
            answer = run_agent(
                hx,
                agent,
                space=given.space,
                topic=given.topic,
                question=given.question,
                deadline_ms=given.deadline_ms,
            )
    except TimeoutError:
        print(f"No answer within {given.deadline_ms:,} ms.", file=sys.stderr)
        return 1
    except hexad.HexadError as error:
        print(error, file=sys.stderr)
        return 1
    except AgentFailed as error:
        print(f"The agent failed: {' '.join(str(error).split())}.", file=sys.stderr)
        return 1
    print(answer)
    return 0


if __name__ == "__main__":
    sys.exit(main())
