from __future__ import annotations

import os
import subprocess
from datetime import UTC, datetime

import pytest

from hexad.errors import InvalidInput
from hexad.ingest.sources.detect import ReadOptions, detect
from hexad.ingest.sources.git_history import changed_files, commits_of_file, commits_of_lines, head_commit
from hexad.ingest.sources.read import count, read
from hexad.memory.memory import Citation
from hexad.memory.source import KnownItem, Unchanged


class Repository:
    """A repository with fixed times and authors."""

    def __init__(self, path) -> None:
        self.path = path
        self._seconds = 1_700_000_000
        path.mkdir()
        self.git("init", "-q", "-b", "main")

    def git(self, *arguments: str) -> str:
        date = f"{self._seconds} +0100"
        who = {"GIT_AUTHOR_NAME": "Ann", "GIT_AUTHOR_EMAIL": "ann@example.org", "GIT_COMMITTER_NAME": "Ann"}
        env = {
            **os.environ,
            **who,
            "GIT_COMMITTER_EMAIL": "ann@example.org",
            "GIT_AUTHOR_DATE": date,
            "GIT_COMMITTER_DATE": date,
        }
        done = subprocess.run(["git", *arguments], cwd=self.path, env=env, check=True, capture_output=True)
        return done.stdout.decode("utf-8", "surrogateescape").strip()

    def commit(self, message: str | bytes, **files: str | bytes | None) -> str:
        for name, content in files.items():
            path = self.path / name.replace("__", "/").replace("_dot_", ".")
            if content is None:
                path.unlink()
                continue
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        self._seconds += 60
        self.git("add", "-A")
        (self.path / ".git/message").write_bytes(message if isinstance(message, bytes) else message.encode())
        self.git("commit", "-q", "--allow-empty", "--allow-empty-message", "-F", ".git/message")
        return self.git("rev-parse", "HEAD")


@pytest.fixture
def repository(tmp_path):
    return Repository(tmp_path / "shop")


@pytest.mark.row("L134")
def test_the_first_commit_of_a_shallow_clone_did_not_bring_all_files(repository, tmp_path):
    repository.commit("Begin", a_dot_txt="one\n")
    below = repository.commit("Add b", b_dot_txt="two\n")
    last = repository.commit("Add to a", a_dot_txt="one\nmore\n")
    clone = tmp_path / "clone"
    repository.git("clone", "-q", "--depth=2", f"file://{repository.path}", str(clone))

    first, second = read(detect(clone, kind="git"))
    origins = commits_of_lines(clone, "a.txt", first=1, last=2)

    assert ("Add b", 0, ()) == (first.text, first.metadata["files"], first.citations)
    assert (last, 1) == (second.source_id, second.metadata["files"])
    assert ((last,), 0, 1) == (origins.shas, origins.uncommitted, origins.older)
    assert (last,) == commits_of_file(clone, "a.txt", limit=5)
    assert () == commits_of_file(clone, "b.txt", limit=5)
    assert (below,) == commits_of_file(repository.path, "b.txt", limit=5)

    kept = {
        item.source_id: KnownItem(fingerprint=item.fingerprint, content_hash=None) for item in (first, second)
    }
    assert [Unchanged, Unchanged] == [type(each) for each in read(detect(clone, kind="git"), known=kept.get)]
    subprocess.run(["git", "fetch", "-q", "--unshallow"], cwd=clone, check=True)
    whole = {each.source_id: each for each in read(detect(clone, kind="git"), known=kept.get)}
    assert (["b.txt"], Unchanged) == ([each.path for each in whole[below].citations], type(whole[last]))


def partial_clone(repository, tmp_path, what="blob:none"):
    """Clone what `what` leaves of a repository, and take its remote away."""
    remote, clone = tmp_path / "remote", tmp_path / "partial"
    repository.git("clone", "-q", "--bare", ".", str(remote))
    for setting in ("uploadpack.allowfilter", "uploadpack.allowanysha1inwant"):
        subprocess.run(["git", "config", setting, "true"], cwd=remote, check=True)
    command = ["git", "clone", "-q", f"--filter={what}", f"file://{remote}", str(clone)]
    subprocess.run(command, check=True, capture_output=True)
    return clone, remote


@pytest.mark.row("L001")
@pytest.mark.parametrize("has_remote", [True, False])
def test_a_partial_clone_is_read_from_what_is_there_and_fetches_nothing(repository, tmp_path, has_remote):
    first = repository.commit("Begin", a_dot_txt="one\n")
    repository.git("mv", "a.txt", "c.txt")
    second = repository.commit("Rename", b_dot_txt="two\n")
    repository.commit("Change", c_dot_txt="three\n")
    clone, remote = partial_clone(repository, tmp_path)
    if not has_remote:
        remote.rename(tmp_path / "gone")
    missing = ["git", "rev-list", "--objects", "--all", "--missing=print"]
    before = subprocess.run(missing, cwd=clone, check=True, capture_output=True).stdout

    items = {item.source_id: item for item in read(detect(clone, kind="git"))}

    assert "Begin\n\nFiles:\n- a.txt" == items[first].text
    assert "Rename\n\nFiles:\n- b.txt\n- c.txt" == items[second].text
    assert (1, False) == (items[first].metadata["files"], "added" in items[first].metadata)
    assert before == subprocess.run(missing, cwd=clone, check=True, capture_output=True).stdout
    kept = {name: KnownItem(fingerprint=item.fingerprint, content_hash=None) for name, item in items.items()}
    assert {Unchanged} == {type(each) for each in read(detect(clone, kind="git"), known=kept.get)}
    whole = {each.source_id: each for each in read(detect(repository.path, kind="git"), known=kept.get)}
    assert "Begin\n\nFiles:\n- a.txt (+1 -0)" == whole[first].text


def test_a_clone_without_folders_is_read_by_its_messages(repository, tmp_path):
    repository.commit("Begin", src__a_dot_txt="one\n")
    repository.commit("Change", src__a_dot_txt="two\n")
    clone, remote = partial_clone(repository, tmp_path, "tree:0")
    remote.rename(tmp_path / "gone")

    assert ["Begin", "Change"] == [item.text for item in read(detect(clone, kind="git"))]


def test_a_partial_clone_says_which_lines_it_cannot_tell_of(repository, tmp_path):
    first = repository.commit("Begin", a_dot_txt="one\n")
    second = repository.commit("Change", a_dot_txt="two\n")
    clone, remote = partial_clone(repository, tmp_path)
    remote.rename(tmp_path / "gone")

    assert (second, first) == commits_of_file(clone, "a.txt", limit=5)
    with pytest.raises(InvalidInput, match=r"partial clone has not all earlier contents of a\.txt"):
        commits_of_lines(clone, "a.txt", first=1, last=1)


@pytest.mark.row("L001", "L134")
def test_a_commit_is_a_memory_with_its_message_files_author_and_time(repository):
    repository.commit("Begin", a_dot_txt="one\n")
    sha = repository.commit(
        "Add totals\n\nThey were wrong.\n\nSigned-off-by: Bo <bo@example.org>\nask cy@example.org",
        a_dot_txt="two\nthree\n",
        src__b_dot_bin=b"\0\1",
    )

    first, second = read(detect(repository.path, kind="git"))

    assert ("Begin", sha) == (first.title, second.source_id)
    assert ("commit", f"shop/commits/{sha[:10]}", ("git",)) == (second.kind, second.path, second.tags)
    assert (
        "Add totals\n\nThey were wrong.\n\nSigned-off-by: Bo\nask [e-mail]\n\nFiles:\n- a.txt (+2 -1)\n- src/b.bin (binary)"
        == second.text
    )
    assert datetime(2023, 11, 14, 22, 15, 20, tzinfo=UTC) == second.time
    assert (Citation(path="a.txt", commit=sha), Citation(path="src/b.bin", commit=sha)) == second.citations
    assert ("Ann", 2, 2, 1) == tuple(
        second.metadata[name] for name in ("author", "files", "added", "removed")
    )


def test_the_oldest_comes_first_and_the_last_ones_are_taken(repository):
    for number in range(5):
        repository.commit(f"number {number}")
    spec = detect(f"git:{repository.path}")

    assert ["number 2", "number 3", "number 4"] == [
        item.text for item in read(spec, options=ReadOptions(commits_limit=3))
    ]
    assert 3 == count(spec, options=ReadOptions(commits_limit=3))


def test_a_range_is_read_whole(repository):
    for number in range(5):
        repository.commit(f"number {number}")
    spec = detect(f"git:{repository.path}?HEAD~4..HEAD~1")

    assert ["number 1", "number 2", "number 3"] == [
        item.title for item in read(spec, options=ReadOptions(commits_limit=1))
    ]
    assert 3 == count(spec)


def test_odd_commits_are_read(repository):
    repository.commit("caf\xe9".encode("latin-1"), **{"two\nlines": "x", "tab\tname": "y"})
    repository.commit("", a="1")
    repository.git("mv", "a", "b")
    repository.commit("move\x01\x02 it")
    repository.git("checkout", "-q", "-b", "side", "HEAD~1")
    repository.commit("aside", c="1")
    repository.git("merge", "-q", "--no-edit", "main")

    items = {item.title: item for item in read(detect(repository.path, kind="git"))}

    assert ["café", "(no message)", "move\x01\x02 it", "aside", "Merge branch 'main' into side"] == list(
        items
    )
    assert ["tab%09name", "two%0Alines"] == [citation.path for citation in items["café"].citations]
    assert ["b"] == [citation.path for citation in items["move\x01\x02 it"].citations]
    assert ("git", "merge") == items["Merge branch 'main' into side"].tags


def test_many_files_are_cited_up_to_a_limit_and_counted_beyond(repository):
    repository.commit("Bulk", **{f"f{number:03}": "x\n" for number in range(60)})

    (item,) = read(detect(repository.path, kind="git"))

    assert (50, 60) == (len(item.citations), item.metadata["files"])
    assert item.text.endswith("- and 10 more")


def test_a_known_commit_is_not_read_again(repository):
    sha = repository.commit("one")
    repository.commit("two")
    known = {sha: KnownItem(fingerprint=sha, content_hash=None)}

    first, second = read(detect(repository.path, kind="git"), known=known.get)

    assert Unchanged(source_id=sha, fingerprint=sha) == first
    assert "two" == second.text


@pytest.mark.parametrize(
    "commits", ["--output=pwned", "-p", "HEAD --output=pwned", "", " ", "nowhere..HEAD", "HEAD\0x", "a.txt"]
)
def test_a_range_cannot_be_an_option_or_a_file_and_git_says_why(repository, commits):
    repository.commit("one", a_dot_txt="x")

    with pytest.raises(InvalidInput, match="range"):
        changed_files(repository.path, commits)
    if commits.strip():
        with pytest.raises(InvalidInput, match="range"):
            list(read(detect(f"git:{repository.path}?{commits}")))
    assert [".git", "a.txt"] == sorted(os.listdir(repository.path))


@pytest.mark.row("L134")
def test_a_diff_says_what_changed_and_what_vanished(repository):
    repository.commit("one", a="1", b="1", sub__c="1", sub__d="1")
    repository.commit("two", a="2", b=None, sub__c="2", sub__d=None, e="1")
    (repository.path / "a").write_text("3")
    (repository.path / "e").unlink()

    found = changed_files(repository.path, "HEAD~1..HEAD")
    below = changed_files(repository.path / "sub", "HEAD~1..HEAD")
    now = changed_files(repository.path, "HEAD")

    assert (("a", "e", "sub/c"), ("b", "sub/d")) == (found.changed, found.vanished)
    assert (("c",), ("d",)) == (below.changed, below.vanished)
    assert (("a",), ("e",)) == (now.changed, now.vanished)


def test_a_renamed_file_has_vanished_under_its_old_name(repository):
    repository.commit("one", a="1")
    repository.git("mv", "a", "b\nc")
    repository.commit("two")

    found = changed_files(repository.path, "HEAD~1..HEAD")

    assert (("b%0Ac",), ("a",)) == (found.changed, found.vanished)


def test_the_head_is_known_by_its_name_and_missing_before_the_first_commit(repository, tmp_path):
    assert head_commit(repository.path) is None

    sha = repository.commit("one")

    assert sha == head_commit(repository.path)
    with pytest.raises(InvalidInput, match="not a git repository"):
        head_commit(tmp_path)


def test_an_empty_repository_says_why_it_has_no_history(repository):
    with pytest.raises(InvalidInput, match="HEAD"):
        list(read(detect(repository.path, kind="git")))


def test_a_bare_repository_has_a_history_too(repository, tmp_path):
    repository.commit("one")
    subprocess.run(
        ["git", "clone", "-q", "--bare", str(repository.path), str(tmp_path / "bare.git")], check=True
    )

    assert ["one"] == [item.text for item in read(detect(tmp_path / "bare.git", kind="git"))]
