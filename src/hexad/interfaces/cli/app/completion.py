"""`hexad completion`: a script for the shell, and what it offers for an argument: names that are in the store."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Final

import click
from click.shell_completion import CompletionItem, get_completion_class

import hexad
from hexad.interfaces.cli.app.base import Command, State
from hexad.interfaces.cli.output.render import show

if TYPE_CHECKING:
    from hexad import Hexad


_OFFERED: Final = 100
Complete = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]


def _from_store(names: Callable[[Hexad, str], Iterable[tuple[str, str]]]) -> Complete:
    def complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        del param
        state = ctx.find_root().ensure_object(State)
        try:
            with hexad.open(
                state.store,
                actor=state.actor,
                embedder=None,
                generator=None,
                background=False,
                readonly=True,
                create=False,
            ) as hx:
                candidates = [*names(hx, incomplete)]
        except hexad.HexadError:
            return []  # whoever runs the command is told why
        begun = [candidate for candidate in candidates if candidate[0].startswith(incomplete)]
        return [CompletionItem(name, help=help_text or None) for name, help_text in begun[:_OFFERED]]

    return complete


def _sessions(hx: Hexad, begun: str) -> Iterable[tuple[str, str]]:
    del begun
    return [(session.id, f"{session.created_at:%Y-%m-%d %H:%M}") for session in reversed(hx.xdb.sessions())]


def _tags(hx: Hexad, begun: str) -> Iterable[tuple[str, str]]:
    return [(tag.name, tag.tag_type.value) for tag in _found(hx, begun)]


def _buds(hx: Hexad, begun: str) -> Iterable[tuple[str, str]]:
    return [(tag.name, tag.bud_status.value if tag.bud_status else "") for tag in _found(hx, begun, "bud")]


def _concepts(hx: Hexad, begun: str) -> Iterable[tuple[str, str]]:
    tags = (
        hx.xdb.find_concept(begun.rpartition("::")[2], limit=_OFFERED) if begun else hx.xdb.browse_concepts()
    )
    return [(tag.id, tag.name) for tag in tags]


def _found(hx: Hexad, begun: str, tag_type: str | None = None) -> list[hexad.Tag]:
    # `*` and `?` would be a pattern; names with them are offered for what stands before.
    plain = re.split(r"[*?]", begun, maxsplit=1)[0]
    return hx.xdb.find_tags(name_pattern=f"{plain}*", tag_type=tag_type, limit=_OFFERED)


def _documents(hx: Hexad, begun: str) -> Iterable[tuple[str, str]]:
    del begun
    return [(document.path, document.doc_type.value) for document in hx.xdb.list_documents()]


def _windows(hx: Hexad, begun: str) -> Iterable[tuple[str, str]]:
    del begun
    windows = hx.xdb.windows()
    return [
        (window.id, f"{window.session_id} {window.start_tick}-{window.end_tick}")
        for window in windows
        if window.fidelity is not hexad.Fidelity.COLD
    ]


def _submissions(hx: Hexad, begun: str) -> Iterable[tuple[str, str]]:
    del begun
    return [(submission.id, submission.status.value) for submission in hx.xdb.submissions()]


session_ids: Final = _from_store(_sessions)
tag_names: Final = _from_store(_tags)
bud_names: Final = _from_store(_buds)
concept_ids: Final = _from_store(_concepts)
document_paths: Final = _from_store(_documents)
window_ids: Final = _from_store(_windows)
submission_ids: Final = _from_store(_submissions)


_SHELLS = ("bash", "zsh", "fish")


@click.command(cls=Command)
@click.argument("shell", type=click.Choice(_SHELLS))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print the completion script of a SHELL: bash, zsh or fish.

    \b
    bash:  eval "$(hexad completion bash)" in ~/.bashrc
    zsh:   eval "$(hexad completion zsh)" in ~/.zshrc
    fish:  hexad completion fish > ~/.config/fish/completions/hexad.fish
    """
    kind = get_completion_class(shell)
    assert kind is not None  # click knows the three of them
    script = kind(ctx.find_root().command, {}, "hexad", "_HEXAD_COMPLETE").source()
    show({"shell": shell, "script": script}, table=script)
