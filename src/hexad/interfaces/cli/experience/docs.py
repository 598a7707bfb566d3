"""`hexad docs …`: reference documents, their versions, and their working copies as files."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

import hexad
from hexad.interfaces.cli.app.base import Group, NamedPath, confirm, note, read_file, several, state
from hexad.interfaces.cli.app.completion import document_paths
from hexad.interfaces.cli.output.render import (
    clean,
    clip,
    count,
    hanging,
    own_lines,
    show,
    size,
    table,
    table_room,
    width,
)

if TYPE_CHECKING:
    from hexad import CopiesReport, Document, DocumentVersion, Hexad, WorkingCopy


_TYPES: Final = [document_type.value for document_type in hexad.DocumentType]
_READ_LIMIT: Final = 9 << 20
"""A little more than a document may have; the library says where the limit is."""


@click.group(cls=Group)
@click.pass_context
def docs(ctx: click.Context) -> None:
    """Keep reference documents: list, show, add, search them."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def _one(hx: Hexad, path_or_id: str) -> Document:
    """Return the document at this path, else with this id; raises `NotFound`."""
    document = hx.xdb.get_document(path_or_id) or hx.xdb.documents.get_document(path_or_id)
    if document is None:
        raise hexad.NotFound(f"There is no document {path_or_id!r}; `hexad docs list` shows what there is.")
    return document


def _print(documents: Sequence[Document], nothing: str) -> None:
    show(documents, table=_print_lines(documents, nothing))


def _print_lines(documents: Sequence[Document], nothing: str) -> Iterator[str]:
    if not documents:
        note(nothing)
        return
    heads = ("path", "type", "version", "size", "changed", "tags", "name", "summary")
    rows = [
        (
            document.path,
            document.doc_type.value,
            document.version,
            size(len(document.content.encode())),
            f"{document.updated_at:%Y-%m-%d}",
            " ".join(document.tags),
            "" if document.name == document.path else document.name,
            document.summary or "",
        )
        for document in documents
    ]
    shown = [at for at, head in enumerate(heads) if any(row[at] for row in rows) or head == "path"]
    lines = table(
        [[row[at] for at in shown] for row in rows],
        heads=[heads[at] for at in shown],
        room=table_room(),
        whole=("type", "size", "changed"),
    )
    yield from lines


@docs.command("list")
@click.option("--type", "doc_type", type=click.Choice(_TYPES), help="Only of this type.")
def list_(doc_type: str | None) -> None:
    """List documents by path."""
    with state().opened() as hx:
        documents = hx.xdb.list_documents(doc_type)
    _print(
        documents,
        "No documents yet; `hexad docs add` stores one."
        if doc_type is None
        else "No document is of this type.",
    )


@docs.command()
@click.argument("words", nargs=-1)
@click.option("--type", "doc_type", type=click.Choice(_TYPES), help="Only of this type.")
@click.option("--tag", "tags", multiple=True, help="Only with this tag; repeated: with all of them.")
@click.option("--any", "any_tag", is_flag=True, help="One of the tags is enough.")
@click.option("--limit", type=int, default=20, show_default=True, help="Maximum number.")
@click.option("--offset", type=int, default=0, help="Skip this many at the start.")
def search(
    *,
    words: tuple[str, ...],
    doc_type: str | None,
    tags: tuple[str, ...],
    any_tag: bool,
    limit: int,
    offset: int,
) -> None:
    """Find documents by their WORDS, type and tags, best first.

    Those with all of the words, in any form; where there is none, with any of them. Without WORDS by path.
    """
    with state().opened() as hx:
        documents = hx.xdb.documents.search(
            text_query=" ".join(words) if words else None,
            doc_type=doc_type,
            tags=several(tags),
            match="any" if any_tag else "all",
            limit=limit,
            offset=offset,
        )
    _print(documents, "No document matches.")


@docs.command("show")
@click.argument("document", shell_complete=document_paths)
@click.option(
    "--revision", "version", metavar="VERSION", help="What it said in this version, by number or name."
)
def show_(document: str, *, version: str | None) -> None:
    """Print DOCUMENT, a path or an id, as it is stored.

    The text goes to stdout, what is known of it to stderr.
    """
    with state().opened() as hx:
        doc = _one(hx, document)
        content = doc.content
        if version is not None:
            versions = hx.xdb.documents.versions(doc.id)
            wanted_versions = [old for old in versions if version in (old.version, str(old.revision))]
            if not wanted_versions:
                known = ", ".join(old.version for old in versions)
                raise hexad.NotFound(
                    f"The document {doc.path!r} has no version {version!r}; it has: {known}."
                )
            content = wanted_versions[-1].content
    show(
        doc if version is None else {**doc.to_dict(), **wanted_versions[-1].to_dict()},
        table=_content_lines(doc, version, content),
    )


def _content_lines(document: Document, version: str | None, content: str) -> Iterator[str]:
    facts = [document.doc_type.value, f"version {version or document.version}", document.id, *document.tags]
    note(clean(f"{document.path}  ({', '.join(facts)})"))
    yield from own_lines(content)


# Writing ----------------------------------------------------------------------------------------------------


def _content(file: Path | None) -> str:
    """Return the text of a file, or what was piped in; raises `UsageError` for what is no text, `NotFound`."""
    where = "What was piped in" if file is None or str(file) == "-" else repr(str(file))
    try:
        if file is None or str(file) == "-":
            if sys.stdin.isatty():
                raise click.UsageError("Nothing to store: give a FILE, or pipe a text in.")
            data = sys.stdin.buffer.read(_READ_LIMIT)
        else:
            data = read_file(file, read=lambda stream: stream.read(_READ_LIMIT))
        return data.decode("utf-8")
    except FileNotFoundError as error:
        raise hexad.NotFound(f"There is no file {where}; name one, or - for what is piped in.") from error
    except OSError as error:
        raise click.UsageError(f"{where} cannot be read: {error.strerror or error}.") from error
    except UnicodeDecodeError as error:
        raise click.UsageError(f"{where} is no UTF-8: a document is a text.") from error


@docs.command()
@click.argument("file", required=False, type=NamedPath(path_type=Path))
@click.option(
    "--type",
    "doc_type",
    type=click.Choice(_TYPES),
    default="reference",
    show_default=True,
    help="What it is for.",
)
@click.option("--name", help="What it is called; default: the file's name.")
@click.option("--path", help="Its logical path, such as style/tone.md; default: its name.")
@click.option("--tag", "tags", multiple=True, help="A tag; may be repeated.")
@click.option("--data-subject", "data_subjects", multiple=True, help="A person whose data it is; repeatable.")
@click.option("--version-name", "version", help="What this version is called; default: 1.")
@click.option("--source", help="Where it came from; default: the file.")
@click.option("--summary", help="What it says, in a sentence.")
def add(*, file: Path | None, name: str | None, tags: tuple[str, ...], **options: Any) -> None:
    """Store FILE, or what is piped in, as a new document.

    Secrets are taken out. Its working copy lies in the store's folder documents/. Makes a store where there is none.
    """
    piped = file is None or str(file) == "-"
    if piped and name is None:
        raise click.UsageError("What is piped in has no name: give --name.")
    content = _content(file)
    if not piped:
        assert file is not None
        name = file.name if name is None else name
        options["source"] = options["source"] or str(file)
    assert name is not None
    doc_type = options.pop("doc_type")
    with state().opened(create=True) as hx:
        document = hx.xdb.documents.add_document(name, content, doc_type, tags=tags, **options)
    _show_done(document, "stored")


@docs.command()
@click.argument("document", shell_complete=document_paths)
@click.argument("file", required=False, type=NamedPath(path_type=Path))
@click.option("--tag", "tags", multiple=True, help="Its tags from now on; may be repeated.")
@click.option(
    "--data-subject",
    "data_subjects",
    multiple=True,
    help="The people whose data it is from now on; repeatable.",
)
@click.option("--version-name", "version", help="What this version is called; default: the next number.")
@click.option("--source", help="Where it came from.")
@click.option("--summary", help="What it says, in a sentence.")
@click.option("--allow-empty", is_flag=True, help="Also a text of nothing, which is refused else.")
def update(
    document: str, *, file: Path | None, tags: tuple[str, ...], allow_empty: bool, **options: Any
) -> None:
    """Give DOCUMENT a new text: FILE, or what is piped in.

    The earlier text is kept as a version; the same text adds none.
    """
    content = _content(file)
    options["data_subjects"] = several(options["data_subjects"])
    if not content.strip() and not allow_empty:
        raise click.UsageError(
            "The new text is empty, so nothing was changed: give a FILE, pipe a text in, or say --allow-empty."
        )
    with state().opened() as hx:
        before = _one(hx, document)
        doc = hx.xdb.documents.update_document(before.id, content, tags=several(tags), **options)
    _show_done(doc, "unchanged" if doc == before else "updated")


def _show_done(document: Document, done: str) -> None:
    show(
        document,
        table=f"{document.id}  {done}  {clean(document.path)}  "
        f"({document.doc_type.value}, version {clean(document.version)})",
    )


# Taking away ------------------------------------------------------------------------------------------------


@docs.command()
@click.argument("document", shell_complete=document_paths)
@click.option(
    "--purge", is_flag=True, help="For good, with all its versions; also one that was removed before."
)
@click.option("--dry-run", is_flag=True, help="Only report what would be removed.")
@click.option("--yes", is_flag=True, help="Do not ask before a purge.")
def remove(document: str, *, purge: bool, dry_run: bool, yes: bool) -> None:
    """Remove DOCUMENT and its working copy.

    `hexad docs restore` brings it back, unless it was purged.
    """
    with state().opened() as hx:
        known = _removable(hx, document)
        if not dry_run:
            if purge:
                confirm(
                    f"Remove the document {clean(known['path'])!r} with all its versions for good?",
                    yes=yes,
                    without="see with --dry-run what would go",
                )
            receipt = hx.xdb.remove_document(document, purge=purge)
    show(
        {**(known if dry_run else receipt.to_dict()), "dry_run": dry_run},
        table=_remove_lines(purge, known, dry_run),
    )


def _remove_lines(purge: bool, known: dict[str, Any], dry_run: bool) -> Iterator[str]:
    done = "purged" if purge else "removed"
    yield f"{known['id']}  {'would be ' * dry_run}{done}  {clean(known['path'])}"
    if not purge and not dry_run:
        note(f"It can be brought back: `hexad docs restore {clean(known['path'])}`.")


def _removable(hx: Hexad, document: str) -> dict[str, Any]:
    """Return id and path of a document, or of one that was removed before; raises `NotFound`."""
    gone_removed_documents = (
        removed_document
        for removed_document in hx.xdb.documents.removed_documents()
        if document in (removed_document.id, removed_document.path) and not removed_document.purged
    )
    there = hx.xdb.get_document(document) or hx.xdb.documents.get_document(document)
    found_document = there or next(gone_removed_documents, None) or _one(hx, document)
    return {"id": found_document.id, "doc_type": found_document.doc_type.value, "path": found_document.path}


@docs.command()
@click.argument("document")
def restore(document: str) -> None:
    """Bring back a document that was removed.

    By its id or its path; of several with one path the last that was removed.
    """
    with state().opened() as hx:
        doc = hx.xdb.restore_document(document)
    _show_done(doc, "restored")


@docs.command()
def removed() -> None:
    """List the documents that were removed, the last first."""
    with state().opened() as hx:
        documents = hx.xdb.documents.removed_documents()
    rows = [
        (
            document.path,
            document.doc_type.value,
            f"{document.removed_at:%Y-%m-%d %H:%M}",
            "purged" if document.purged else "removed",
            document.id,
        )
        for document in documents
    ]
    show(documents, table=_removed_lines(rows))


def _removed_lines(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    heads = ("path", "type", "removed", "state", "id")
    if rows:
        yield from table(rows, heads=heads, room=table_room(), whole=heads[1:])
    else:
        note("No document was removed.")


# Versions ---------------------------------------------------------------------------------------------------


@docs.command()
@click.argument("document", shell_complete=document_paths)
def versions(document: str) -> None:
    """List the versions of DOCUMENT, oldest first.

    `hexad docs show DOCUMENT --revision VERSION` prints one.
    """
    with state().opened() as hx:
        versions = hx.xdb.documents.versions(_one(hx, document).id)
    show(versions, table=_versions_lines(versions))


def _versions_lines(versions: list[DocumentVersion]) -> Iterator[str]:
    rows = [
        (
            str(version.revision),
            version.version,
            size(len(version.content.encode())),
            "now" if version.replaced_at is None else f"{version.replaced_at:%Y-%m-%d %H:%M}",
            version.content_hash,
        )
        for version in versions
    ]
    heads = ("revision", "version", "size", "until", "sha256")
    yield from table(rows, heads=heads, room=table_room(), whole=heads[:4])


@docs.command()
@click.option("--read", is_flag=True, help="Take in what was done by hand: changes, and new files.")
@click.option("--write", is_flag=True, help="Write every copy anew; what was changed by hand is gone.")
@click.option("--dry-run", is_flag=True, help="Only report what --write would overwrite.")
@click.option(
    "--yes", is_flag=True, help="Do not ask before a copy that was changed by hand is written over."
)
def copies(*, read: bool, write: bool, dry_run: bool, yes: bool) -> None:
    """Show how the working copies compare with the documents.

    A copy is the same, missing, outdated, changed by hand, or a file that no document has.
    """
    if read and write:
        raise click.UsageError(
            "--read keeps what was done by hand, --write throws it away; give one of them."
        )
    if dry_run and not write:
        raise click.UsageError("--dry-run says what --write would write over; give both.")
    with state().opened() as hx:
        if read:
            report = hx.xdb.documents.read_copies()
            show(report, table=_read_lines(report))
        elif write:
            _write(hx, dry_run=dry_run, yes=yes)
        else:
            _show_copies(hx.xdb.documents.copies())


def _show_copies(copies: Sequence[WorkingCopy]) -> None:
    show(copies, table=_show_copies_lines(copies))


def _show_copies_lines(copies: Sequence[WorkingCopy]) -> Iterator[str]:
    for copy in copies:
        yield f"{copy.state.value:9}  {clip(copy.path, width() - 11)}"
    if not copies:
        note("There is no working copy.")


def _read_lines(report: CopiesReport) -> Iterator[str]:
    for done, paths in (
        ("created", report.created),
        ("updated", report.updated),
        ("restored", report.restored),
    ):
        for path in paths:
            yield f"{done}  {clean(path)}"
    for path, reason in report.skipped:
        for line in hanging(f"skipped  {path}: {reason}", indent=0, room=width()):
            click.echo(line, err=True)


def _write(hx: Hexad, *, dry_run: bool, yes: bool) -> None:
    wrong = [
        copy
        for copy in hx.xdb.documents.copies()
        if copy.document_id and copy.state is not hexad.CopyState.SAME
    ]
    by_hand = [copy for copy in wrong if copy.state is hexad.CopyState.CHANGED]
    if by_hand and not dry_run:
        what = count(len(by_hand), "copy that was changed by hand", "copies that were changed by hand")
        confirm(f"Write over {what}?", yes=yes, without="see with --dry-run which")
    paths = [copy.path for copy in wrong] if dry_run else hx.xdb.documents.write_copies()
    show({"written": paths, "dry_run": dry_run}, table=_write_lines(paths, dry_run))


def _write_lines(paths: list[str], dry_run: bool) -> Iterator[str]:
    for path in paths:
        yield f"{'would be written' if dry_run else 'written'}  {clean(path)}"
    if not paths:
        note("Every working copy is as its document.")
