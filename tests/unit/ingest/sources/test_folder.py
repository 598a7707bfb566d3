from __future__ import annotations

import os
import socket
import subprocess
from pathlib import Path

import pytest

from hexad.errors import InvalidInput
from hexad.ingest.sources.detect import ReadOptions, detect
from hexad.ingest.sources.read import count, read
from hexad.memory.source import Item, KnownItem, Skip, Unchanged


def write(root: Path, files: dict[str, str | bytes]) -> None:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)


def read_all(root: Path, known=None, **options) -> tuple[dict[str, Item], dict[str, str]]:
    """Return what a folder gives: items by their ids, and the reasons of what was skipped."""
    things = list(read(detect(root), options=ReadOptions(**options), known=known))
    assert not any(isinstance(thing, Unchanged) for thing in things)
    items = {thing.source_id: thing for thing in things if isinstance(thing, Item)}
    skips = {thing.source_id: thing.reason for thing in things if isinstance(thing, Skip)}
    assert len(things) == len(items) + len(skips), "an id was given twice"
    return items, skips


@pytest.fixture
def shop(tmp_path):
    root = tmp_path / "shop"
    root.mkdir()
    return root


@pytest.mark.row("L001", "L136")
def test_every_kind_of_file_gets_its_path_kind_and_tags(shop):
    write(
        shop,
        {
            "README.md": "---\ntags: [Front Door]\n---\n# Shop\n\nSells things.\n",
            "src/cart/total.py": '"""Totals."""\n\n\ndef total(items): ...\n',
            "docs/adr/0004-use-sqlite.md": "# Use SQLite\n",
            "CHANGELOG.md": "# 1.0\n",
            "logs/run.log": "started\n",
            "config/app.toml": "[a]\nb = 1\n",
            "notes.txt": "buy milk\n",
            "LICENSE": "Permission\n",
        },
    )

    items, skips = read_all(shop)

    assert {} == skips
    assert {
        "CHANGELOG.md": ("log", "shop/CHANGELOG", ("markdown",)),
        "LICENSE": ("note", "shop/LICENSE", ()),
        "README.md": ("guide", "shop/README", ("front-door", "markdown")),
        "config/app.toml": ("config", "shop/config/app", ("config", "toml")),
        "docs/adr/0004-use-sqlite.md": ("decision", "shop/docs/adr/0004-use-sqlite", ("docs", "markdown")),
        "logs/run.log": ("log", "shop/logs/run", ("log", "logs")),
        "notes.txt": ("note", "shop/notes", ("text",)),
        "src/cart/total.py": ("code", "shop/src/cart/total", ("python", "src")),
    } == {name: (item.kind, item.path, item.tags) for name, item in items.items()}
    readme = items["README.md"]
    assert "Shop" == readme.title
    assert {
        "project": "shop",
        "source": shop.as_posix(),
        "language": "markdown",
        "title": "Shop",
        "size": 49,
    } == readme.metadata
    assert "total(items)" in [section.heading for section in items["src/cart/total.py"].sections]


def test_the_order_is_that_of_the_names(shop):
    write(shop, dict.fromkeys(("b.txt", "a/z.txt", "a.txt", "a/b/c.txt", "c.txt"), "x"))

    names = [thing.source_id for thing in read(detect(shop))]

    assert ["a/b/c.txt", "a/z.txt", "a.txt", "b.txt", "c.txt"] == names
    assert 5 == count(detect(shop))


def test_reading_is_lazy(shop):
    write(shop, {f"{n}.txt": "x" for n in range(3)})
    things = read(detect(shop))

    next(things)
    (shop / "1.txt").unlink()

    assert ["vanished while the source was read", None] == [
        getattr(thing, "reason", None) for thing in things
    ]


def test_nested_gitignores_are_obeyed_also_outside_a_repository(shop):
    write(
        shop,
        {
            ".gitignore": "*.tmp\n/secret/\n!keep.tmp\n",
            "a.tmp": "x",
            "keep.tmp": "x",
            "secret/in.txt": "x",
            "sub/.gitignore": "!b.tmp\nlocal.txt\n",
            "sub/b.tmp": "x",
            "sub/local.txt": "x",
            "sub/secret/in.txt": "x",
            "local.txt": "x",
        },
    )

    items, skips = read_all(shop)

    assert ["keep.tmp", "local.txt", "sub/b.tmp", "sub/secret/in.txt"] == sorted(items)
    ignored = sorted(name for name, reason in skips.items() if reason == "ignored by .gitignore")
    assert ["a.tmp", "secret", "sub/local.txt"] == ignored
    assert 7 == len(read_all(shop, gitignore=False)[0])


@pytest.mark.timeout(120)
@pytest.mark.parametrize("rule", ["*a" * 12 + "*b", "**/a/" * 12 + "b", "*?" * 12 + "x/", "[ab]*" * 12 + "c"])
def test_a_gitignore_of_many_wildcards_holds_up_nobody(shop, rule):
    long = "a" * 200 + ".md"
    write(shop, {".gitignore": rule + "\n", "note.md": "x", long: "x", "a/" * 60 + "z.md": "x"})

    assert {long, "note.md", "a/" * 60 + "z.md"} == set(read_all(shop)[0])


def test_rules_of_many_wildcards_say_what_git_says(shop):
    names = (
        "a_b_c_d.txt",
        "a_b_c.txt",
        "x/a/y/a/b",
        "a/a/b",
        "a/b",
        "g/r-1-2-3-4/in.txt",
        "r-1-2-3-4",
        "sp/q.w.e.r.t",
    )
    write(shop, dict.fromkeys(names, "x"))
    (shop / ".gitignore").write_text("*_*_*_*.txt\n**/a/**/a/**/b\nr-*-*-*-*/\n*.?.*.**.*\n!*.w.*.r.*\n")
    subprocess.run(["git", "init", "-q", str(shop)], check=True)
    listed = subprocess.run(
        ["git", "ls-files", "-o", "--exclude-standard"], cwd=shop, check=True, capture_output=True, text=True
    )

    assert ["a/b", "a_b_c.txt", "r-1-2-3-4", "sp/q.w.e.r.t"] == sorted(
        set(listed.stdout.split()) & set(names)
    )
    assert sorted(listed.stdout.split()) == sorted(read_all(shop, hidden=True)[0])


def test_the_rules_of_git_itself_and_ours_agree(shop):
    write(
        shop,
        {
            ".gitignore": "*.log\nbuild/\n/top\n**/deep/*.md\n!deep/keep.md\na?c\n[xy].txt\n",
            "one/.gitignore": "!one.log\nlocal\n",
            **dict.fromkeys(
                (
                    "a.log",
                    "one/one.log",
                    "one/local",
                    "two/local",
                    "build/x",
                    "one/build/x",
                    "top",
                    "one/top",
                ),
                "x",
            ),
            **dict.fromkeys(
                ("deep/a.md", "deep/keep.md", "q/deep/b.md", "abc", "abbc", "x.txt", "z.txt"), "x"
            ),
        },
    )
    subprocess.run(["git", "init", "-q", str(shop)], check=True)
    (shop / ".git/info/exclude").write_text("z.txt\n")
    listed = subprocess.run(
        ["git", "ls-files", "-o", "--exclude-standard"], cwd=shop, check=True, capture_output=True, text=True
    )

    assert sorted(listed.stdout.split()) == sorted(read_all(shop, hidden=True)[0])
    below = [name.removeprefix("one/") for name in listed.stdout.split() if name.startswith("one/")]
    assert sorted(below) == sorted(read_all(shop / "one", hidden=True)[0])


def test_a_folder_that_is_named_is_read_though_its_repository_ignores_it(shop):
    write(shop, {".gitignore": "out/\n", "out/a.txt": "x"})
    subprocess.run(["git", "init", "-q", str(shop)], check=True)

    assert ["a.txt"] == list(read_all(shop / "out")[0])


def test_tools_folders_hidden_files_and_builds_are_counted_once_each(shop):
    write(
        shop,
        {
            "node_modules/a/b.js": "x",
            ".hexad/memory.db": "x",
            ".env": "x",
            "env/pyvenv.cfg": "x",
            "package.json": "{}",
            "dist/a.js": "x",
            "mine/dist/notes.txt": "not beside a build file",
        },
    )

    items, skips = read_all(shop)

    assert ["mine/dist/notes.txt", "package.json"] == sorted(items)
    assert {
        ".env": "hidden",
        ".hexad": ".hexad is never read",
        "dist": "dist holds what a build made",
        "env": "a virtual environment of Python",
        "node_modules": "node_modules is never read",
    } == skips
    assert ".env" in read_all(shop, hidden=True)[0]


@pytest.mark.parametrize(
    ("mark", "folder"),
    [
        ("Cargo.toml", "target"),
        ("pom.xml", "target"),
        ("setup.cfg", "build"),
        ("build.gradle.kts", "build"),
        ("CMakeLists.txt", "build"),
        ("meson.build", "build"),
        ("tsconfig.json", "dist"),
        ("mix.exs", "_build"),
    ],
)
def test_a_folder_beside_a_build_file_is_what_a_build_made(shop, mark, folder):
    write(shop, {f"part/{mark}": "{}\n", f"part/{folder}/made.txt": "x", f"{folder}/mine.txt": "x"})

    items, skips = read_all(shop)

    assert {f"part/{folder}": f"{folder} holds what a build made"} == skips
    assert {f"part/{mark}", f"{folder}/mine.txt"} == set(items)


def test_a_folder_that_says_it_is_a_cache_is_skipped_and_a_mark_of_another_kind_says_nothing(shop):
    signature = "Signature: 8a477f597d28d172789f06886806bc55\n# made by a tool\n"
    write(
        shop, {"made/CACHEDIR.TAG": signature, "made/a.txt": "x", "mine/CACHEDIR.TAG": "x", "mine/a.txt": "x"}
    )

    items, skips = read_all(shop)

    assert {"made": "CACHEDIR.TAG in it says that it is a cache"} == skips
    assert {"mine/CACHEDIR.TAG", "mine/a.txt"} == set(items)
    write(shop, {"CACHEDIR.TAG": signature})
    assert "mine/a.txt" in read_all(shop)[0], "a folder that was named is read"


def test_include_and_exclude_patterns_choose(shop):
    write(shop, dict.fromkeys(("a.md", "b.txt", "docs/c.md", "docs/old/d.md"), "x"))

    items, skips = read_all(shop, include=("*.md",), exclude=("old/",))

    assert ["a.md", "docs/c.md"] == sorted(items)
    assert {"b.txt": "not among the include patterns", "docs/old": "left out by an exclude pattern"} == skips


def test_a_pattern_that_cannot_be_read_is_refused(shop):
    with pytest.raises(InvalidInput, match="cannot be read"):
        read_all(shop, include=("!",))


def test_links_pipes_and_sockets_are_skipped_with_a_reason(shop, tmp_path):
    write(shop, {"a.txt": "x"})
    os.symlink(shop / "a.txt", shop / "link.txt")
    os.symlink(shop, shop / "loop")
    os.mkfifo(shop / "pipe")
    with socket.socket(socket.AF_UNIX) as server:
        here = os.getcwd()
        os.chdir(shop)  # a socket's path may be no longer than 108 bytes
        try:
            server.bind("socket")
        finally:
            os.chdir(here)

        items, skips = read_all(shop)

    link = "a symbolic link (not followed)"
    assert ["a.txt"] == list(items)
    assert {"link.txt": link, "loop": link, "pipe": "a named pipe", "socket": "a socket"} == skips


def test_links_are_followed_on_request_and_a_circle_ends(shop):
    write(shop, {"a/a.txt": "x"})
    os.symlink(shop, shop / "a" / "loop")
    os.symlink(shop / "a" / "a.txt", shop / "link.txt")
    os.symlink("self", shop / "self")

    items, skips = read_all(shop, follow_symlinks=True)

    assert ["a/a.txt", "link.txt"] == sorted(items)
    assert "a link to a folder that is already read" == skips["a/loop"]
    assert skips["self"].startswith("not readable: ")


def test_a_folder_nested_deeper_than_python_calls_is_read(shop):
    folders = [shop]
    for _ in range(1_050):
        folders.append(folders[-1] / "d")
        os.mkdir(folders[-1])
    (folders[-1] / "a.txt").write_text("x")
    try:
        assert 1 == len(read_all(shop)[0])
    finally:  # pytest's own clean-up is a recursion
        (folders[-1] / "a.txt").unlink()
        for folder in reversed(folders):
            folder.rmdir()


@pytest.mark.skipif(os.name != "posix", reason="file names are bytes on POSIX only")
def test_names_with_line_ends_and_bad_bytes_get_safe_and_different_ids(shop):
    for name in (
        b"two\nlines.md",
        b"two%0Alines.md",
        b"bad\xff.txt",
        b"bad%FF.txt",
        "naïve.txt".encode(),
        b"100%.txt",
    ):
        (shop / os.fsdecode(name)).write_text("x")

    items, skips = read_all(shop)

    assert {} == skips
    assert [
        "100%.txt", "bad%25FF.txt", "bad%FF.txt", "naïve.txt", "two%0Alines.md", "two%250Alines.md",
    ] == sorted(items)  # fmt: skip
    for item in items.values():
        assert f"{item.source_id}{item.path}".encode().decode().isprintable()


def test_an_unchanged_file_is_not_read_and_a_touched_one_costs_a_hash(shop):
    write(shop, {"a.txt": "one", "b.txt": "two", "c.txt": "three"})
    before, _ = read_all(shop)
    known = {
        name: KnownItem(fingerprint=item.fingerprint, content_hash=item.content_hash)
        for name, item in before.items()
    }
    os.utime(shop / "b.txt", ns=(1, 1))
    (shop / "c.txt").write_text("other")
    # The same size and time: what is inside cannot be told without reading, so this is not seen.
    state = (shop / "a.txt").stat()
    (shop / "a.txt").write_text("ONE")
    os.utime(shop / "a.txt", ns=(state.st_atime_ns, state.st_mtime_ns))

    things = list(read(detect(shop), known=known.get))

    assert [
        Unchanged(source_id="a.txt", fingerprint=before["a.txt"].fingerprint),
        Unchanged(source_id="b.txt", fingerprint="3:1"),
    ] == things[:2]
    assert ["other"] == [thing.text for thing in things[2:]]
