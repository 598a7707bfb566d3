"""Slices: files that hang together more than with others, found by a library and named from paths and symbols."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from importlib.util import find_spec
from math import log
from typing import Final, NamedTuple

from hexad.text.identifiers import split_identifiers

FILES_LEAST: Final = 3
"""Fewer files are no slice."""
_SHARE: Final = 0.6
"""A folder that so many of the files are in gives a slice its name."""
_WORD_LEAST: Final = 3
_SEED: Final = 0


class SlicedFile(NamedTuple):
    """A file as it is sliced: its number and path, and the names of what it defines at its top."""

    no: int
    path: str
    names: tuple[str, ...]


def can_slice() -> bool:
    """Whether the library that finds communities is installed (extra `code`)."""
    return find_spec("networkx") is not None


def slices(
    files: Sequence[SlicedFile], edges: Iterable[tuple[int, int, float]]
) -> dict[str, tuple[SlicedFile, ...]]:
    """Return slices by their names, the largest first; the same files and edges give the same ones.

    `edges` are pairs of numbers of files with how much they have to do with each other.
    """
    import networkx

    by_no = {file.no: file for file in files}
    graph = networkx.Graph()
    graph.add_nodes_from(sorted(file.path for file in files))
    weights: Counter[tuple[str, str]] = Counter()
    for start, end, weight in edges:
        if start in by_no and end in by_no and start != end:
            first, last = sorted((by_no[start].path, by_no[end].path))
            weights[first, last] += weight  # type: ignore[assignment]  # a sum of floats
    for (first, last), weight in sorted(weights.items()):
        graph.add_edge(first, last, weight=weight)
    by_path = {file.path: file for file in files}
    communities = networkx.community.louvain_communities(graph, weight="weight", seed=_SEED)
    groups = [
        tuple(by_path[path] for path in sorted(community))
        for community in communities
        if len(community) >= FILES_LEAST
    ]
    groups.sort(key=lambda group: (-len(group), group[0].path))
    return _named(groups)


def _named(groups: Sequence[tuple[SlicedFile, ...]]) -> dict[str, tuple[SlicedFile, ...]]:
    folders = [_folder(group) for group in groups]
    words = [_words(group) for group in groups]
    spread = Counter(word for bag in words for word in bag)
    named: dict[str, tuple[SlicedFile, ...]] = {}
    for group, folder, bag in zip(groups, folders, words, strict=True):
        name = folder or "."
        if folders.count(folder) > 1:
            telling = _telling(bag, spread, len(groups), folder)
            name = f"{name} ({telling})" if telling else name
        number = 2
        while name in named:
            name, number = f"{name.removesuffix(f' {number - 1}')} {number}", number + 1
        named[name] = group
    return named


def _folder(group: Sequence[SlicedFile]) -> str:
    """Return the deepest folder that most of the files are in."""
    counts: Counter[str] = Counter()
    for file in group:
        parts = file.path.split("/")[:-1]
        counts.update("/".join(parts[:depth]) for depth in range(1, len(parts) + 1))
    common = [folder for folder, count in counts.items() if count >= _SHARE * len(group)]
    return max(common, key=lambda folder: (folder.count("/"), folder), default="")


def _words(group: Sequence[SlicedFile]) -> Counter[str]:
    words: Counter[str] = Counter()
    for file in group:
        stem = file.path.rpartition("/")[2].partition(".")[0]
        for name in (stem, stem, *file.names):
            spelled = name.replace("_", " ")
            parts = {*spelled.lower().split(), *(part.lower() for part in split_identifiers(spelled))}
            words.update(part for part in parts if len(part) >= _WORD_LEAST and part.isalpha())
    return words


def _telling(bag: Mapping[str, int], spread: Mapping[str, int], groups: int, folder: str) -> str:
    """Return the word that is frequent here and rare elsewhere; one of the folder's name tells nothing new."""
    known = set(folder.lower().replace("_", "/").split("/")) | {"init", "test", "tests"}
    weighed = {
        word: count * log((1 + groups) / spread[word]) for word, count in bag.items() if word not in known
    }
    return max(weighed, key=lambda word: (round(weighed[word], 9), word), default="")
