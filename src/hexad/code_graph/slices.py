"""Slices: files that hang together more than with others, found by a library and named from paths and what is used."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from typing import Final, NamedTuple

FILES_LEAST: Final = 3
"""Fewer files are no slice."""
_SHARE: Final = 0.6
"""A folder that so many of the files are in gives a slice its name."""
_SEED: Final = 0


class SlicedFile(NamedTuple):
    """A file as it is sliced."""

    no: int
    path: str
    is_test: bool = False


class SymbolUse(NamedTuple):
    """How much the file `by_no` uses a symbol of the file `of_no`: a class, a function or what is like these."""

    by_no: int
    of_no: int
    name: str
    weight: float


def can_slice() -> bool:
    """Whether the library that finds communities is installed (extra `code`)."""
    return find_spec("networkx") is not None


def slices(
    files: Sequence[SlicedFile],
    edges: Iterable[tuple[int, int, float]],
    uses: Iterable[SymbolUse] = (),
) -> dict[str, tuple[SlicedFile, ...]]:
    """Return slices by their names, the largest first; the same files and edges give the same ones.

    `edges` are pairs of numbers of files with how much the first uses of the second, `uses` the same of symbols.
    """
    import networkx

    edges = list(edges)
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
    return _named(groups, _Centres(groups, edges, uses))


class _Centres:
    """What the files of each group use most of what stands in it."""

    def __init__(
        self,
        groups: Sequence[tuple[SlicedFile, ...]],
        edges: Iterable[tuple[int, int, float]],
        uses: Iterable[SymbolUse],
    ) -> None:
        group_of = {file.no: at for at, group in enumerate(groups) for file in group}
        self._files: Counter[int] = Counter()
        self._symbols: dict[int, Counter[str]] = {}
        for start, end, weight in edges:
            if start != end and start in group_of and group_of[start] == group_of.get(end):
                self._files[end] += weight  # type: ignore[assignment]  # a sum of floats
        for use in uses:
            if use.by_no in group_of and group_of[use.by_no] == group_of.get(use.of_no):
                self._symbols.setdefault(use.of_no, Counter())[use.name] += use.weight  # type: ignore[assignment]

    def of(self, files: Sequence[SlicedFile]) -> tuple[SlicedFile, str]:
        """Return the symbol of some files that is used most, with its file; of none the file that is used most."""
        found = [
            (round(weight, 9), file.path, name, file)
            for file in files
            for name, weight in self._symbols.get(file.no, Counter[str]()).items()
        ]
        if found:
            _, _, name, file = max(found, key=lambda each: each[:3])
            return file, name
        file = max(files, key=lambda each: (round(self._files[each.no], 9), each.path))
        return file, file.path.rpartition("/")[2].partition(".")[0]


def _named(groups: Sequence[tuple[SlicedFile, ...]], centres: _Centres) -> dict[str, tuple[SlicedFile, ...]]:
    """Name groups after the folder that most of their files are in, and after what they use most where that is not all.

    Tests say what a group is of only where it has nothing else: they are often more than what they test.
    """
    named_after = [[file for file in group if not file.is_test] or list(group) for group in groups]
    folders = [_folder(files) for files in named_after]
    named: dict[str, tuple[SlicedFile, ...]] = {}
    for group, files, folder in zip(groups, named_after, folders, strict=True):
        name = folder
        if not folder or folders.count(folder) > 1:
            file, centre = centres.of(files)
            folder = folder or file.path.rpartition("/")[0]
            name = f"{folder} ({centre})" if folder else centre
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
