"""Paths of memories and names of spaces: what is allowed, what is equal, what a file is called."""

from __future__ import annotations

import unicodedata
from fnmatch import fnmatchcase
from typing import Final

from hexad.core.arguments import quoted
from hexad.errors import InvalidMemory, InvalidSpace
from hexad.text.normalize import nfkc

PATH_LIMIT: Final = 512
"""Longest path of a memory in characters."""
SPACE_NAME_LIMIT: Final = 128
"""Longest name of a space in characters."""
SPACE_FILE_NAME_BYTES_LIMIT: Final = 240
"""Longest file name made of a space's name, in bytes: 255 less room for a suffix and a temporary mark."""

# Windows opens a device for these, whatever the suffix (Microsoft, "Naming files, paths and namespaces").
_DEVICES: Final = frozenset(
    ["CON", "PRN", "AUX", "NUL", *(f"{device}{number}" for device in ("COM", "LPT") for number in range(10))]
)

CHANGELOG_STEMS: Final = frozenset(["changelog", "changes", "history", "news", "releases", "release-notes"])
CHANGELOG_FOLDERS: Final = frozenset(["changelog", "changelogs"])
_TEST_PARTS: Final = frozenset({"test", "tests", "testing", "__tests__", "spec", "specs"})


def normalize_path(path: str) -> str:
    """Return a memory's path `project/module/topic` without outer, doubled or `.` segments.

    Raises `InvalidMemory` when nothing is left, for `..`, for control characters and past 512 characters.
    """
    if len(path) > 4 * PATH_LIMIT:
        raise _too_long(path)
    unprintable = None
    if not path.isprintable():
        unprintable = next((character for character in path if _is_control(character)), None)
    if unprintable is not None:
        raise InvalidMemory(
            f"Path {path!r} holds the control character {unprintable!r}; use letters, digits and '/'.",
            argument="path",
        )
    segments = [segment.strip() for segment in path.split("/")]
    if ".." in segments:
        raise InvalidMemory(
            f"Path {path!r} holds '..'; write the path from its project down.", argument="path"
        )
    normal = "/".join(segment for segment in segments if segment not in ("", "."))
    if not normal:
        raise InvalidMemory(f"Path {path!r} is empty; write it as project/module/topic.", argument="path")
    if len(normal) > PATH_LIMIT:
        raise _too_long(normal)
    return normal


def _too_long(path: str) -> InvalidMemory:
    return InvalidMemory(
        f"Path {path[:40]!r}… has {len(path)} characters; the limit is {PATH_LIMIT}: shorten it."
    )


def _is_control(character: str) -> bool:
    """Return whether a path may not hold this: controls, lone surrogates, line and paragraph separators."""
    return unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp")


def matches(path: str, pattern: str) -> bool:
    """Return whether `path` is at or under `pattern`, or is matched by it as a glob.

    Without wildcards, whole segments count: `src/app` holds `src/app/main` and not `src/apple`. With them the
    whole path must match: `*` and `?` stay inside a segment, `**` stands for any number of segments, none
    included. Case counts. The empty pattern matches everything.
    """
    pattern = pattern.strip("/")
    if not pattern or path == pattern or path.startswith(pattern + "/"):
        return True
    if not any(wildcard in pattern for wildcard in "*?["):
        return False
    return _match_segments(path.split("/"), pattern.split("/"))


def _match_segments(segments: list[str], patterns: list[str]) -> bool:
    """Match greedily: only the last `**` is ever tried again, so the time is at most segments × patterns."""
    at = wanted_index = 0
    last_star, resume = -1, 0
    while at < len(segments):
        if wanted_index < len(patterns) and patterns[wanted_index] == "**":
            last_star, resume = wanted_index, at
            wanted_index += 1
        elif wanted_index < len(patterns) and fnmatchcase(segments[at], patterns[wanted_index]):
            at += 1
            wanted_index += 1
        elif last_star >= 0:
            resume += 1
            at, wanted_index = resume, last_star + 1
        else:
            return False
    return all(pattern == "**" for pattern in patterns[wanted_index:])


def validate_space(name: str) -> str:
    """Return `name` unchanged when a space can be called so.

    Letters and digits of any script, `_`, `.`, `-` and inner `/`, `@` and `+`; no `..`, no segment that is empty or
    begins with a dot, at most 128 characters, and no name that a file system would open as a device. A bad name
    raises `InvalidSpace`; it is never folded into another.
    """
    value: object = name
    if not isinstance(value, str):
        raise InvalidSpace(f"Invalid space {quoted(value)}: the name must be a string, such as 'default'.")
    problem = _space_problem(name)
    if problem is not None:
        shown = name if len(name) <= SPACE_NAME_LIMIT else name[:40] + "…"
        raise InvalidSpace(f"Invalid space {shown!r}: {problem}")
    return name


def _space_problem(name: str) -> str | None:
    """Return what is wrong with a space's name and what to do about it, or None."""
    if not name:
        return "the name is empty; give one, such as 'default'."
    if name.isascii() and name.isalnum() and len(name) <= SPACE_NAME_LIMIT and name.upper() not in _DEVICES:
        return None
    if len(name) > SPACE_NAME_LIMIT:
        return f"the name has {len(name)} characters; the limit is {SPACE_NAME_LIMIT}: shorten it."
    for at, character in enumerate(name):
        is_mark = at > 0 and unicodedata.category(character)[0] == "M"
        # Spaces are called after people, and people after their e-mail addresses.
        is_inner = at > 0 and name[at - 1] != "/" and character in "@+"
        if not (character.isalnum() or character in "_.-/" or is_inner or is_mark):
            return f"{character!r} is not allowed; use letters, digits, '_', '.', '-' and inner '/', '@' and '+'."
    if ".." in name:
        return "'..' is not allowed; use single dots."
    if any(not segment or segment[0] == "." for segment in name.split("/")):
        return "a part between slashes is empty or begins with '.'; write it as project/part."
    normal = nfkc(name)
    if normal != name:
        return f"it has a second spelling in Unicode; write it as {normal!r}."
    if name.split(".", 1)[0].upper() in _DEVICES:
        return "Windows reserves this name for a device; choose another, such as one with a prefix."
    if len(_file_name(name).encode()) > SPACE_FILE_NAME_BYTES_LIMIT:
        return f"its file name would pass {SPACE_FILE_NAME_BYTES_LIMIT} bytes; shorten it."
    return None


def folder_problem(name: str) -> str | None:
    """Return why a name cannot be that of a folder everywhere, and what to do about it, or None: the rules of spaces'
    names, without `/`.

    >>> folder_problem("graft-7"), folder_problem("a/b")
    (None, "use letters, digits, '_', '-' and single '.' inside; it becomes the name of a folder.")
    """  # fmt: skip
    known_characters = {character for character in name if character.isalnum() or character in "_.-"}
    marks = {character for character in name[1:] if unicodedata.category(character)[0] == "M"}
    if not name or set(name) - known_characters - marks or name[0] == "." or name[-1] == "." or ".." in name:
        return "use letters, digits, '_', '-' and single '.' inside; it becomes the name of a folder."
    return _space_problem(name)


def space_key(name: str) -> str:
    """Return the form in which two names must differ: equal but for case is refused."""
    return nfkc(name.casefold())


def space_file_name(name: str) -> str:
    """Return the file name of a space, without suffix: `/` as `%2F`, one to one.

    Raises `InvalidSpace` for a name that `validate_space` refuses.
    """
    return _file_name(validate_space(name))


def _file_name(name: str) -> str:
    return name.replace("/", "%2F")


def space_of_file_name(file_name: str) -> str:
    """Return the name of the space whose file is called `file_name`, without suffix.

    Raises `InvalidSpace` when no space has such a file.
    """
    if "/" in file_name:
        raise InvalidSpace(
            f"Invalid space file name {file_name!r}: '/' is written as '%2F' in a file's name."
        )
    return validate_space(file_name.replace("%2F", "/"))


def is_test_path(path: str) -> bool:
    """Whether a file holds tests, by its folders and its name.

    >>> is_test_path("tests/unit/test_walk.py"), is_test_path("src/contest.py"), is_test_path("web/cart.spec.ts")
    (True, False, True)
    """
    *folders, name = path.lower().split("/")
    if _TEST_PARTS & set(folders):
        return True
    stem = name.partition(".")[0]
    return (
        stem.startswith("test_")
        or stem.endswith(("_test", "_tests"))
        or ".test." in name
        or ".spec." in name
        or (
            name.endswith(".java")
            and path.rpartition("/")[2].removesuffix(".java").endswith(("Test", "Tests"))
        )
    )


def is_changelog_path(path: str) -> bool:
    """Whether a file tells what changed from version to version, by its name and its folders.

    >>> is_changelog_path("docs/CHANGES.rst"), is_changelog_path("src/changes/apply.py"), is_changelog_path("a.log")
    (True, False, False)
    """
    *folders, name = path.lower().split("/")
    stem = name.partition(".")[0].replace("_", "-").replace(" ", "-")
    return stem in CHANGELOG_STEMS or not CHANGELOG_FOLDERS.isdisjoint(folders)
