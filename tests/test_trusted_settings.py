"""What a project's own file says of where texts go counts once its user has seen it."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

import hexad
from hexad import InvalidInput, StorageFailure, UntrustedSettings
from llm_server import LlmServer, Say
from ran import Run

SECRET = "The launch is on 4 May."


@pytest.fixture
def cloned(project: Path) -> Path:
    """A project as it was cloned: its folder of settings is there, nobody here has written it."""
    (project / ".hexad").mkdir(exist_ok=True)
    return project


def write(project: Path, text: str) -> None:
    (project / ".hexad" / "hexad.toml").write_text(text, encoding="utf-8")


def embed_all(project: Path, **options: object) -> None:
    with hexad.open(project, background=False, **options) as hx:  # type: ignore[arg-type]
        hx.remember(SECRET)
        hx.embed_pending()


@pytest.mark.parametrize(
    ("setting", "purpose"),
    [
        ('embedder = "openai:m@{url}"', "texts and questions go to {url}"),
        ('generator = "openai:m@{url}"', "texts and prompts go to {url}"),
        ('generator = "anthropic:m"', "texts and prompts go to anthropic's own servers"),
        ('rerank = "openai:m@{url}"', "questions and hits go to {url}"),
        ('llm_model = "openai:m@{url}"', "texts and prompts go to {url}"),
        ('memory_semantic_model = "openai:m"', "texts and prompts go to openai's own servers"),
        ('generator = "openai:m@{url}"\ncompaction_model = "google:m"', "google's own servers"),
    ],
)
def test_where_the_file_of_a_project_sends_texts_is_refused_until_it_is_trusted(
    cloned: Path, llm: LlmServer, setting: str, purpose: str
) -> None:
    write(cloned, setting.format(url=llm.base_url))
    with pytest.raises(UntrustedSettings) as refused:
        hexad.open(cloned, background=False)

    assert purpose.format(url=llm.base_url) in str(refused.value)
    assert f"`hexad config trust` in {cloned}" in str(refused.value)
    assert [] == llm.asked
    assert ["hexad.toml"] == [path.name for path in (cloned / ".hexad").iterdir()], "nothing was made"
    hexad.trust_settings(cloned)
    hexad.open(cloned, background=False).close()


def test_what_is_trusted_is_sent_and_a_changed_value_is_asked_for_again(cloned: Path, llm: LlmServer) -> None:
    llm.always(Say(body=json.dumps({"data": [{"index": 0, "embedding": [1.0, 0.0]}]}).encode()))
    write(cloned, f'embedder = "openai:m@{llm.base_url}"')
    hexad.trust_settings(cloned)
    embed_all(cloned)
    sent = len(llm.asked)
    assert any(SECRET in json.dumps(asked.body) for asked in llm.asked)

    write(cloned, f'embedder = "openai:m@{llm.base_url}/elsewhere"')
    with pytest.raises(UntrustedSettings, match="elsewhere"):
        embed_all(cloned)
    assert sent == len(llm.asked)


def test_trust_is_of_a_place_and_can_be_listed_and_taken_back(
    cloned: Path, tmp_path: Path, llm: LlmServer
) -> None:
    write(cloned, f'embedder = "openai:m@{llm.base_url}"')
    hexad.trust_settings(cloned)
    copy = tmp_path / "copy"
    (copy / ".hexad").mkdir(parents=True)
    write(copy, (cloned / ".hexad" / "hexad.toml").read_text(encoding="utf-8"))

    with pytest.raises(UntrustedSettings):
        hexad.open(copy)
    (trusted,) = hexad.trusted_settings()
    assert (cloned / ".hexad", {"embedder": f"openai:m@{llm.base_url}"}) == (trusted.store, trusted.settings)
    assert hexad.revoke_trust(cloned)
    assert not hexad.revoke_trust(cloned)
    with pytest.raises(UntrustedSettings):
        hexad.open(cloned)


def test_trust_in_a_project_that_is_gone_can_be_taken_back(cloned: Path, llm: LlmServer) -> None:
    write(cloned, f'embedder = "openai:m@{llm.base_url}"')
    hexad.trust_settings(cloned)
    cloned.rename(cloned.with_name("moved"))

    assert hexad.revoke_trust(cloned)
    assert [] == hexad.trusted_settings()


def test_what_a_user_says_himself_needs_no_trust(
    cloned: Path, llm: LlmServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(cloned, f'embedder = "openai:m@{llm.base_url}"\ngenerator = "openai:m@{llm.base_url}"')
    hexad.open(cloned, embedder="hashing", generator=None, background=False).close()
    monkeypatch.setenv("HEXAD_EMBEDDER", f"openai:mine@{llm.base_url}")
    monkeypatch.setenv("HEXAD_GENERATOR", f"openai:mine@{llm.base_url}")
    hexad.open(cloned, background=False).close()
    assert {} == hexad.untrusted_settings(cloned).settings


def test_a_generator_of_the_program_is_no_leave_for_the_files_models(cloned: Path) -> None:
    write(cloned, 'llm_model = "anthropic:m"')
    with pytest.raises(UntrustedSettings, match="llm_model"):
        hexad.open(cloned, generator=lambda _: "", background=False)


@pytest.mark.parametrize("text", ["", 'embedder = "hashing"\ngenerator = "none"\n', 'llm_model = "large"\n'])
def test_what_sends_nothing_and_what_names_no_place_needs_no_trust(cloned: Path, text: str) -> None:
    write(cloned, text)
    hexad.open(cloned, background=False, generator=lambda _: "").close()
    assert {} == hexad.untrusted_settings(cloned).settings


def test_a_value_that_cannot_be_used_is_named_before_trust_is_asked_for(cloned: Path) -> None:
    write(cloned, 'generator = "nobody:tiny"')
    with pytest.raises(InvalidInput, match="nobody:tiny"):
        hexad.open(cloned)


def test_a_key_file_and_a_provider_that_a_project_names_are_trusted_first(
    cloned: Path, tmp_path: Path
) -> None:
    hexad.open(cloned, embedder=None, background=False).close()
    write(cloned, f'[encryption]\nprovider = "key_file"\nkey_file = "{tmp_path / "theirs.key"}"\n')
    with pytest.raises(UntrustedSettings, match=r"theirs\.key"):
        hexad.encrypt(cloned)
    assert hexad.encryption_state(cloned) is None
    assert not (tmp_path / "theirs.key").exists()

    hexad.encrypt(cloned, key=bytes(range(32)))  # the user's own key needs no trust
    hexad.open(cloned, key=bytes(range(32)), embedder=None, background=False).close()
    hexad.decrypt(cloned, key=bytes(range(32)))
    hexad.trust_settings(cloned)
    assert str(tmp_path / "theirs.key") == hexad.encrypt(cloned).key_file


def test_what_was_seen_is_trusted_and_not_what_the_file_says_since(cloned: Path) -> None:
    write(cloned, 'generator = "anthropic:m"')
    seen = hexad.untrusted_settings(cloned)
    write(cloned, 'generator = "openai:m@http://127.0.0.1:1/v1"')
    hexad.trust_settings(settings=seen)
    with pytest.raises(UntrustedSettings):
        hexad.open(cloned)


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"store": 1, "settings": {}}', '{"store": "x", "settings": []}']
)
def test_a_damaged_note_of_trust_is_said_and_trusts_nothing(cloned: Path, text: str) -> None:
    write(cloned, 'generator = "anthropic:m"')
    hexad.trust_settings(cloned)
    (note,) = (Path(os.environ["HEXAD_USER_DIR"]) / "trust").iterdir()
    assert 0o600 == note.stat().st_mode & 0o777
    note.write_text(text, encoding="utf-8")
    with pytest.raises(StorageFailure, match=f"{note.name} is no note of trust"):
        hexad.open(cloned)


# On the command line --------------------------------------------------------------------------------------------------


def test_without_a_terminal_a_command_is_refused_with_the_remedy(cloned: Path, run: Run) -> None:
    write(cloned, 'generator = "anthropic:m"')
    refused = run("remember", SECRET, "-C", str(cloned))
    assert 1 == refused.code
    assert "hexad config trust" in refused.err

    asked = run("config", "trust", "-C", str(cloned))
    assert 2 == asked.code
    assert "anthropic's own servers" in asked.err
    assert "--yes" in asked.err
    assert 0 == run("config", "trust", "--yes", "-C", str(cloned)).code
    assert 0 == run("remember", SECRET, "-C", str(cloned)).code
    assert "anthropic:m" in run("config", "trusted").out
    assert [{"generator": "anthropic:m"}] == [
        row["settings"] for row in run("--json", "config", "trusted").data["trusted"]
    ]
    assert "names nothing that needs trust" in run("config", "trust", "-C", str(cloned)).out
    assert 0 == run("config", "revoke", "-C", str(cloned)).code
    assert 3 == run("config", "revoke", "-C", str(cloned)).code
    assert "no project's settings" in run("config", "trusted").out
    assert 1 == run("remember", SECRET, "-C", str(cloned)).code


def test_what_a_file_says_steers_no_terminal(cloned: Path, run: Run) -> None:
    write(cloned, 'generator = "anthropic:m\\u001b[2J\\nTrusted.\\u202e"')
    err = run("config", "trust", "-C", str(cloned)).err
    assert "\x1b" not in err
    assert "\u202e" not in err
    assert "\nTrusted." not in err


@pytest.mark.parametrize(("answer", "count"), [("y", 1), ("n", 0)])
def test_at_a_terminal_it_is_asked_once(cloned: Path, answer: str, count: int) -> None:
    write(cloned, 'generator = "anthropic:m"')
    code, seen = at_terminal(cloned, answer, "remember", SECRET)
    assert "texts and prompts go to anthropic's own servers" in seen
    assert (0 if count else 1) == code
    assert count == len(hexad.trusted_settings())
    if count:
        with hexad.open(cloned, embedder=None, background=False) as hx:
            assert 1 == hx.count()


def at_terminal(folder: Path, answer: str, *arguments: str) -> tuple[int, str]:
    master, slave = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "hexad", *arguments],
        cwd=folder,
        stdin=slave,
        stdout=subprocess.DEVNULL,
        stderr=slave,
        env={**os.environ, "HEXAD_EMBEDDER": "none"},
    )
    os.close(slave)
    seen = b""
    while b"Trust that?" not in seen:
        seen += os.read(master, 1_024)
    os.write(master, answer.encode() + b"\n")
    with suppress(OSError):  # it has ended
        while piece := os.read(master, 1_024):
            seen += piece
    os.close(master)
    return process.wait(timeout=60), seen.decode()


@pytest.mark.parametrize("command", [("serve",), ("hook", "prompt", "--debug")], ids=["server", "hook"])
def test_a_server_and_a_hook_are_refused(cloned: Path, command: tuple[str, ...]) -> None:
    write(cloned, 'generator = "anthropic:m"')
    done = subprocess.run(
        [sys.executable, "-m", "hexad", *command],
        input=json.dumps({"prompt": "when do we deploy the gate?", "cwd": str(cloned)}),
        cwd=cloned,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    if command[0] == "serve":  # a hook says nothing to a person, and ends when its time is over
        assert "hexad config trust" in done.stderr
    assert "" == done.stdout
    assert ["hexad.toml"] == [path.name for path in (cloned / ".hexad").iterdir()]
