"""No secret reaches any file of a store: written through every door, and then every byte is searched."""

from __future__ import annotations

import json
import random
import string
import subprocess
from pathlib import Path

import pytest

import hexad
from hexad import Citation, Hexad, InvalidMemory
from opener import Opener

_letters = string.ascii_letters + string.digits
_random = random.Random(20260501)


def drawn(length: int, alphabet: str = _letters) -> str:
    return "".join(_random.choice(alphabet) for _ in range(length))


# Made here and now, so that no scanner of repositories takes this file for a leak.
OPENAI = "sk-" + "proj-" + drawn(48)
GITHUB = "gh" + "p_" + drawn(36)
AWS_ID = "AK" + "IA" + drawn(16, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")
JWT = "ey" + "JhbGciOiJIUzI1NiJ9." + "ey" + "J" + drawn(40) + "." + drawn(43)
PASSWORD = "tr0ub4dor" + drawn(9)
WORDS = "correct-horse" + "-battery"
API_KEY = drawn(40)
PEM = "\n".join(
    [
        "-----BEGIN RSA " + "PRIVATE KEY-----",
        *(drawn(64) for _ in range(5)),
        "-----END RSA " + "PRIVATE KEY-----",
    ]
)

SECRETS = {
    "provider key": (f"The key is {OPENAI} for now.", OPENAI),
    "forge token": (f"git clone with {GITHUB}", GITHUB),
    "cloud id": (f"aws: {AWS_ID}", AWS_ID),
    "web token": (f"Authorization: Bearer {JWT}", JWT),
    "password in settings": (f'password = "{PASSWORD}"', PASSWORD),
    "password of words": (f"admin password: {WORDS}", WORDS),
    "password in a shell": (f"export DB_PASSWORD={PASSWORD}", PASSWORD),
    "named key in JSON": (json.dumps({"api_key": API_KEY}), API_KEY),
    "named secret in YAML": (f"client_secret: {API_KEY}", API_KEY),
    "password in an address": (f"postgres://ada:{PASSWORD}@db.example.org/x", PASSWORD),
    "private key": (PEM, PEM.splitlines()[2]),
}


def holding(folder: Path, secret: str) -> list[str]:
    """The files below `folder` that hold the secret in any case, in UTF-8 or UTF-16."""
    small = secret.lower()
    return [
        str(path.relative_to(folder))
        for path in sorted(folder.rglob("*"))
        if path.is_file()
        and any(small.encode(coding) in path.read_bytes().lower() for coding in ("utf-8", "utf-16-le"))
    ]


@pytest.mark.row("A125", "A128", "A129", "L056")
@pytest.mark.parametrize("name", SECRETS)
def test_a_remembered_secret_is_in_no_byte_of_the_store(opened: Opener, name: str) -> None:
    text, secret = SECRETS[name]
    hx = opened()

    memory = hx.remember(f"Before it. {text}\nAfter it.")
    hx.maintain()
    assert "After it." in hx.recall("what comes after it?")[0].memory.raw
    hx.spaces.write_file("default")

    assert "[REDACTED:" in memory.raw
    assert memory.receipt is not None
    assert memory.receipt.redacted >= 1
    assert [] == holding(hx.path, secret)
    hx.close()
    assert [] == holding(hx.path, secret)


@pytest.mark.row("A125", "L056")
@pytest.mark.parametrize(
    "fields",
    [
        {"metadata": {"note": GITHUB}},
        {"metadata": {"deep": [{"er": f"see {GITHUB}"}]}},
        {"metadata": {GITHUB: "as a key"}},
        {"path": f"tokens/{GITHUB}"},
        {"tags": [GITHUB]},
        {"subject": GITHUB},
        {"attribute": GITHUB},
        {"value": {"token": [GITHUB]}},
        {"citations": [Citation(path=f"https://x/{GITHUB}", symbol=GITHUB)]},
        {"data_subjects": [GITHUB]},
    ],
    ids=lambda fields: next(iter(fields)),
)
def test_a_secret_in_any_field_is_in_no_byte_of_the_store(opened: Opener, fields: dict[str, object]) -> None:
    hx = opened()

    hx.remember("A text without a secret.", **fields)  # type: ignore[arg-type]
    hx.maintain()
    hx.close()

    assert [] == holding(hx.path, GITHUB)


@pytest.mark.row("A125", "A126", "L056")
def test_ingested_secrets_are_in_no_byte_of_the_store(opened: Opener, tmp_path: Path) -> None:
    source = tmp_path / "app"
    source.mkdir()
    for number, (text, _) in enumerate(SECRETS.values()):
        (source / f"page{number}.md").write_text(f"# Page {number}\n\nSome words.\n\n{text}\n\nMore words.\n")
    (source / "settings.py").write_text(f'API_KEY = "{API_KEY}"\n\n\ndef f():\n    return "{OPENAI}"\n')
    (source / "config.json").write_text(json.dumps({"db": {"password": PASSWORD}, "port": 5432}))
    (source / "talk.jsonl").write_text(
        json.dumps(
            {"conversation": "c", "session": "s", "speaker": "Ada", "text": f"My key is {OPENAI}.", "id": "t"}
        )
    )
    subprocess.run(["git", "init", "-q", str(source)], check=True)
    identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", "-C", str(source), "add", "config.json"], check=True)
    subprocess.run(["git", "-C", str(source), *identity, "commit", "-q", "-m", f"Use {GITHUB}"], check=True)
    hx = opened()

    report = hx.ingest(source)
    hx.ingest(source / "talk.jsonl")
    hx.ingest(f"git:{source}")
    hx.recall("some words about the key")
    hx.spaces.write_file("default")

    assert report.redacted >= len(SECRETS)
    secrets = {OPENAI, GITHUB, AWS_ID, JWT, PASSWORD, API_KEY, PEM.splitlines()[2]}
    assert {} == {secret: found for secret in secrets if (found := holding(hx.path, secret))}
    hx.close()
    assert {} == {secret: found for secret in secrets if (found := holding(hx.path, secret))}


@pytest.mark.row("A126")
def test_values_of_env_files_are_stored_only_where_they_are_allowed(opened: Opener, tmp_path: Path) -> None:
    source = tmp_path / "service.env"
    source.write_text("COLOUR=ultramarine\nREGION=lapis-lazuli\n# a comment\n")
    hx = opened()
    hx.ingest(source)
    assert "COLOUR=" in hx.memories()[0].raw
    assert ["# a comment"] == [line for line in hx.memories()[0].raw.splitlines() if line.startswith("#")]
    assert ([], []) == (holding(hx.path, "ultramarine"), holding(hx.path, "lapis-lazuli"))

    hx.spaces.create("open")
    hx.spaces.set_policy("open", {"env_allow": ["REGION"]})
    hx.ingest(source, space="open")

    (allowed,) = hx.memories(space="open")
    assert ("lapis-lazuli" in allowed.raw, "ultramarine" in allowed.raw) == (True, False)


@pytest.mark.row("A127", "L005", "L059")
def test_personal_data_goes_where_the_policy_of_the_space_says_so(hx: Hexad) -> None:
    text = "Write to ada@example.org or call +44 20 7946 0958."
    hx.spaces.create("strict")
    hx.spaces.set_policy("strict", {"pii_redaction": ["email", {"name": "badge", "regex": "BADGE-[0-9]{4}"}]})

    plain = hx.remember(text, space="plain")
    strict = hx.remember(text + " Show BADGE-1234.", space="strict", metadata={"from": "ada@example.org"})

    assert text == plain.raw
    assert "Write to [REDACTED:email] or call +44 20 7946 0958. Show [REDACTED:badge]." == strict.raw
    assert "[REDACTED:email]" == strict.metadata["from"]
    flags = {flag["rule"]: flag for flag in strict.metadata["pii_flags"]}  # type: ignore[union-attr, index, call-overload]
    assert {"email": 2, "badge": 1} == {rule: flag["count"] for rule, flag in flags.items()}


@pytest.mark.row("L059", "L035")
def test_what_was_removed_leaves_a_keyed_hash(opened: Opener, tmp_path: Path) -> None:
    def hashes(hx: Hexad, text: str) -> list[str]:
        return [flag["hash"] for flag in hx.remember(text).metadata["pii_flags"]]  # type: ignore[union-attr, index, misc, call-overload]

    (tmp_path / "other").mkdir()
    here, there = opened(), opened(tmp_path / "other")

    first, again = hashes(here, f"One: {GITHUB}"), hashes(here, f"Two: {GITHUB}")
    elsewhere = hashes(there, f"One: {GITHUB}")
    different = hashes(here, f"Three: {OPENAI}")

    assert first == again
    assert 1 == len(first)
    assert elsewhere != first != different
    assert GITHUB not in first[0]


@pytest.mark.row("L035")
def test_a_text_without_secrets_has_no_flags(hx: Hexad) -> None:
    memory = hx.remember("The key to the lighthouse hangs behind the door.")

    assert ([], 0) == (memory.metadata["pii_flags"], memory.receipt.redacted if memory.receipt else None)


@pytest.mark.row("A130")
def test_in_doubt_a_value_beside_a_telling_name_goes_and_a_placeholder_stays(hx: Hexad) -> None:
    doubtful = hx.remember("auth_token: 8f14e45fceea167a5a36dedd4bea2543")
    harmless = hx.remember("password = os.environ['PASSWORD']  # never write it down")
    prose = hx.remember("The password policy asks for twelve characters.")

    assert "8f14e45f" not in doubtful.raw
    assert "[REDACTED" not in harmless.raw
    assert "The password policy asks for twelve characters." == prose.raw


def test_two_texts_that_differ_only_in_their_secret_are_one(hx: Hexad) -> None:
    first = hx.remember(f"The token is {GITHUB}.")

    again = hx.remember(f"The token is {'gh' + 'p_' + drawn(36)}.")

    assert (first.id, 2) == (again.id, again.evidence)


def test_a_changed_text_leaves_no_secret_in_its_history(opened: Opener) -> None:
    hx = opened()
    hx.remember(f"The token is {GITHUB}.", id="token")
    hx.remember("The token is gone.", id="token")
    hx.close()

    assert [] == holding(hx.path, GITHUB)


def test_a_policy_that_nothing_enforces_is_refused(hx: Hexad) -> None:
    hx.spaces.create("docs")

    with pytest.raises(hexad.InvalidSpace, match=r"'retain'.*nothing enforces it"):
        hx.spaces.set_policy("docs", {"retain": 30})
    assert {} == hx.spaces.get("docs").policies


@pytest.mark.row("A125")
@pytest.mark.parametrize("field", ["id", "source_id"])
def test_a_name_that_holds_a_secret_is_refused(hx: Hexad, field: str) -> None:
    secret = "AKIA" + "QYLPMN5HFIQR7XYA"

    with pytest.raises(InvalidMemory, match=f"The {field} holds what looks like a secret") as raised:
        hx.remember("A harmless text.", **{field: secret})

    assert secret not in str(raised.value)
    assert [] == hx.memories()


def test_a_file_whose_name_holds_a_secret_is_skipped_and_counted(hx: Hexad, tmp_path: Path) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    (folder / f"{'AKIA' + 'QYLPMN5HFIQR7XYA'}.md").write_text("Some words about the harbour.\n")
    (folder / "plain.md").write_text("Some words about the ferry.\n")

    report = hx.ingest(folder)

    assert (2, 1) == (report.created, report.skips)  # the other file and the overview


@pytest.mark.row("A125")
@pytest.mark.parametrize("dry_run", [False, True])
def test_a_report_names_what_it_skipped_without_the_secrets_in_names_and_reasons(
    hx: Hexad, tmp_path: Path, dry_run: bool
) -> None:
    documents, turns, folder = tmp_path / "documents.jsonl", tmp_path / "turns.jsonl", tmp_path / "files"
    records: list[dict[str, str]] = [
        {"id": GITHUB, "text": "The quokka sleeps."},
        {"id": GITHUB, "text": "The id again."},
        {"id": AWS_ID, "text": ""},
        {"id": "timed", "text": "The emu runs.", "time": GITHUB},
    ]
    documents.write_text("".join(json.dumps(record) + "\n" for record in records))
    said = {"speaker": "Bo", "session": "s", "text": "The heron stands."}
    turns.write_text(json.dumps({**said, "conversation": GITHUB}) + "\n")
    folder.mkdir()
    (folder / f"{GITHUB}.md").write_text("Some words about the harbour.\n")
    redacted = "[REDACTED:github-token]"

    sources = (documents, turns, folder, folder / f"{GITHUB}.md")
    reports = [hx.ingest(source, dry_run=dry_run) for source in sources]
    said_of_them = json.dumps([report.to_dict() for report in reports])

    assert GITHUB not in said_of_them and AWS_ID not in said_of_them
    assert [3, 1, 1, 1] == [report.skips for report in reports]
    assert ["record 2", "[REDACTED:aws-access-key-id]", redacted] == [
        skip.source_id for skip in reports[0].skipped
    ]
    assert f"record 2: the id '{redacted}' was used before in this source" == reports[0].skipped[0].reason
    assert f"the time '{redacted}' is in no form" in reports[0].unread[0].reason
    assert [f"{redacted}/s/0", f"{redacted}.md", f"{redacted}.md"] == [
        report.skipped[0].source_id for report in reports[1:]
    ]
    assert str(folder / f"{redacted}.md") == reports[3].source


PASSWORD = "Tr0ub4dor" + "&3xQ"


@pytest.mark.row("A129", "A125")
@pytest.mark.parametrize(
    "fields",
    [
        {"metadata": {"password": PASSWORD}},
        {"metadata": {"db": {"api_key": "k9Qz" + "7Lm2Xv8Rt4Wb"}}},
        {"metadata": {"argv": ["--password", PASSWORD]}},
        {"metadata": {"password": 73519482}},
        {"subject": "db", "attribute": "password", "value": PASSWORD},
        {"subject": "db", "attribute": "login", "value": {"password": PASSWORD}},
    ],
)
def test_a_value_is_judged_together_with_its_name(hx: Hexad, fields: dict[str, object]) -> None:
    memory = hx.remember("A harmless text.", **fields)  # type: ignore[arg-type]

    stored = json.dumps(memory.to_dict())
    assert PASSWORD not in stored
    assert "k9Qz" + "7Lm2Xv8Rt4Wb" not in stored
    assert "73519482" not in stored
    assert memory.metadata["pii_flags"]


@pytest.mark.row("A125")
def test_a_key_that_crosses_the_end_of_a_part_is_taken_out_whole(hx: Hexad, tmp_path: Path) -> None:
    drawn = random.Random(5)
    body = ["".join(drawn.choices(string.ascii_letters + string.digits, k=64)) for _ in range(40)]
    pem = ["-----BEGIN RSA " + "PRIVATE KEY-----", *body, "-----END RSA " + "PRIVATE KEY-----"]
    line = "A line of a long text without anything."
    before = [line] * (((1 << 20) - 900) // (len(line) + 1))
    folder = tmp_path / "long"
    folder.mkdir()
    (folder / "big.txt").write_text("\n".join([*before, *pem, *[line] * 3_000]))
    (folder / "prod.env").write_text("\n".join(f"VAR_{i}={'ultramarine' * 9}{i}" for i in range(11_000)))

    hx.ingest(folder, embed=False)

    stored = [memory.raw for memory in hx.memories(limit=None)]
    assert 4 <= len(stored)
    assert [] == [key for key in body if any(key in raw for raw in stored)]
    assert not any("ultramarine" in raw for raw in stored)


# .env files -------------------------------------------------------------------------------------------------

SETTING = {
    "APP_REGION": "harbour" + "seven",
    "APP_MOTTO": "blue whale " + "sings",
    "APP_HOST": "cache" + "hostinternal",
}
ENV = "# settings\n" + "".join(f"{name}={value}\n" for name, value in SETTING.items())


def env_through(hx: Hexad, folder: Path) -> None:
    """Bring the lines of an env file in by every way there is, as a file and as something pasted or read."""
    source = folder / "envs"
    (source / "config").mkdir(parents=True)
    for name in ("prod.env", "docker.env", "config/service.env.txt", "env", ".env"):
        (source / name).write_text(ENV)
    hx.ingest(source, space="files")
    for number, name in enumerate((".env", "prod.env")):
        hx.ingest(source / name, space=f"one-{number}")
    hx.enqueue(source / "docker.env", space="queued")
    hx.maintain()
    (source / "NOTES.md").write_text(f"Copy this to `.env`:\n\n```\n{ENV}```\n")
    hx.ingest(source / "NOTES.md", space="notes")
    chat = folder / "envchat.jsonl"
    turn = {"conversation": "c", "session": "s", "turn": 1, "speaker": "Ann", "id": "c/s/1"}
    chat.write_text(json.dumps({**turn, "text": f"here is my .env\n```\n{ENV}```"}) + "\n")
    hx.ingest(chat, space="chat")

    hx.remember(ENV)
    hx.remember(ENV + "\n", path="app/.env")
    hx.remember(f"$ cat prod.env\n{ENV}")
    hx.remember("Of a file.", metadata={"file": ".env", "content": ENV})
    hx.remember_raw("raw", "config", ENV)
    hx.remember_structured("structured", {"raw": ENV, "path": "a/.env", "summary_long": ENV})
    hx.spaces.create("seen")
    hx.remember("Something else.", space="seen", id="mem_seen")
    file = hx.spaces.write_file("seen")
    held = json.loads(file.read_text())
    held["name"] = "read"
    held["objects"] = [
        {**held["objects"][0], "id": "mem_read", "raw": ENV, "path": "x/.env", "summary_long": ENV}
    ]
    (folder / "read.json").write_text(json.dumps(held))
    hx.spaces.read_file(folder / "read.json", name="read")

    hx.xdb.start_session("s")
    for text in (
        ENV,
        f"$ cat .env\n{ENV}",
        json.dumps({"path": ".env", "content": ENV}),
        f"my .env:\n```\n{ENV}```",
    ):
        hx.xdb.record("tool_response", text)
    for line in f"It reads .env:\n{ENV}".splitlines(keepends=True):
        hx.xdb.record("output", line, event_id="answer")
    hx.xdb.comment(ENV, tick_range=(1, 1))
    document = hx.xdb.documents.add_document("prod.env", ENV, "reference")
    hx.xdb.documents.update_document(document.id, f"See .env\n{ENV}")
    hx.xdb.end_session()
    hx.xdb.seal()


@pytest.mark.row("A126")
def test_no_value_of_an_env_file_is_stored_whichever_way_it_comes(project, opened):
    hx = opened(embedder=None)
    env_through(hx, project)
    said = "".join(hexad.export_json(hx.export()))

    assert [] == [value for value in SETTING.values() if value in said]
    assert said.count("[REDACTED:env-value]") > 50
    hx.close()
    for value in SETTING.values():
        assert [] == holding(project / ".hexad", value)


@pytest.mark.row("A126")
def test_values_of_an_env_file_are_stored_where_their_names_are_listed(project, opened):
    (project / ".hexad").mkdir()
    (project / ".hexad" / "hexad.toml").write_text(f"env_allow = {json.dumps(['APP_MOTTO'])}\n")
    hx = opened(embedder=None)
    env_through(hx, project)
    said = "".join(hexad.export_json(hx.export()))

    assert said.count(SETTING["APP_MOTTO"]) > 20
    assert SETTING["APP_REGION"] not in said and SETTING["APP_HOST"] not in said


@pytest.mark.parametrize(
    "text",
    [
        "TITLE=one\nNOTE=two",
        "Run it with DEBUG=1 LEVEL=2, as .env says.",
        "const url = process.env.API_URL;\nconst port = process.env.PORT;",
        "The file .env is not in the repository.\n\nWIDTH is 80.",
        "See .env\n\none\n\ntwo\n\nthree\n\nfour\n\nA=x\nB=y\n",
    ],
    ids=["two plain lines", "in a sentence", "code", "only named", "far away"],
)
def test_lines_that_are_of_no_env_file_stay(hx, text):
    assert text.strip() == hx.remember(text).raw.strip()


def test_a_space_whose_name_holds_a_secret_is_not_made(tmp_path):
    key = "AKIA" + "IOSFODNN7EXAMPLA"
    with hexad.open(":memory:", embedder=None, background=False) as hx:
        hx.remember("Deploys happen on Tuesday.", space="docs")
        file = tmp_path / "docs.json"
        hx.spaces.export("docs", out=file)
        for name in (key, f"team-{key}", f"team/{key}"):
            for call in (hx.spaces.create, lambda name: hx.spaces.restore(file, name=name)):
                with pytest.raises(hexad.InvalidSpace, match="looks like a secret"):
                    call(name)
        assert ["docs"] == [space.name for space in hx.spaces.list()]
