"""Checkpoints as signed notes: what others sign we read, what we sign others can."""

from __future__ import annotations

import hashlib

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given
from hypothesis import strategies as st

from hexad.audit.checkpoint import (
    EMPTY_ROOT,
    Checkpoint,
    Frontier,
    Node,
    Verifier,
    consistency_proof,
    inclusion_proof,
    leaf_hash,
    node_hash,
    read_signed,
    root,
    root_of,
    sign,
    verifier_of,
    verify_consistency,
    verify_inclusion,
)
from hexad.errors import IntegrityError, InvalidInput

KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
MADE = Checkpoint(origin="example.com/log", size=3, root=b"r" * 32)


def test_a_key_of_another_implementation_is_read_and_written_as_it_is() -> None:
    """The key of the example in the documentation of Go's package `note`."""
    given = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"

    assert given == str(Verifier.parse(given))


def test_a_checkpoint_comes_back_from_its_note() -> None:
    note = sign(MADE, name="example.com/log", key=KEY)

    assert note.startswith("example.com/log\n3\ncnJy")
    assert MADE == read_signed(note, [verifier_of(KEY, name="example.com/log")])


def test_lines_of_ones_own_are_signed_with_the_rest() -> None:
    made = Checkpoint(origin="o", size=0, root=b"r" * 32, extensions=("one", "two"))

    assert made == read_signed(sign(made, name="k", key=KEY), [verifier_of(KEY, name="k")])


def test_signatures_of_others_are_left_aside_but_one_of_ours_must_be_there() -> None:
    other = Ed25519PrivateKey.from_private_bytes(b"x" * 32)
    note = sign(MADE, name="k", key=KEY)
    second = sign(MADE, name="w", key=other).rpartition("\n\n")[2]

    assert MADE == read_signed(note + second, [verifier_of(KEY, name="k")])
    with pytest.raises(IntegrityError, match="not signed by z"):
        read_signed(note, [verifier_of(KEY, name="z")])
    with pytest.raises(IntegrityError, match="not signed by k"):
        read_signed(note, [verifier_of(other, name="k")])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda note: note.replace("\n3\n", "\n4\n"), "is false"),
        (lambda note: note.replace("cnJy", "cnJz", 1), "is false"),
        (lambda note: note.replace("\u2014", "-"), "no signature"),
        (lambda note: note.replace("\n\n", "\n"), "no signed note"),
        (lambda note: note.rstrip("\n"), "no signed note"),
        (lambda note: note + "x" * (1 << 20), "no checkpoint"),
        (lambda note: note[:-3] + "A" + note[-1:], "no Base64"),
        (lambda note: "\udc80" + note, "no text"),
    ],
)
def test_a_note_that_was_changed_is_worth_nothing(change, message: str) -> None:
    note = sign(MADE, name="k", key=KEY)

    with pytest.raises(IntegrityError, match=message):
        read_signed(change(note), [verifier_of(KEY, name="k")])


@pytest.mark.parametrize(
    "text", ["o\n03\n" + "cnJy" * 11 + "\n", "o\n3\nxx\n", "o\n3\n", "o\n-1\ncnJy\n", "o\n3\ncnJy\n"]
)
def test_a_signed_text_that_is_no_checkpoint_is_refused(text: str) -> None:
    signed = sign(Checkpoint(origin="o", size=3, root=b"r" * 32), name="k", key=KEY)
    import base64

    verifier = verifier_of(KEY, name="k")
    signature = base64.b64encode(verifier.key_id + KEY.sign(text.encode())).decode()
    assert signed

    with pytest.raises(IntegrityError):
        read_signed(f"{text}\n\u2014 k {signature}\n", [verifier])


@pytest.mark.parametrize("name", ["", "a b", "a+b", "a\nb"])
def test_a_name_that_no_signature_can_carry_is_refused(name: str) -> None:
    with pytest.raises(InvalidInput, match="name"):
        verifier_of(KEY, name=name)


@pytest.mark.parametrize("origin", ["", "a\nb", "a\x00"])
def test_an_origin_that_is_no_line_is_refused(origin: str) -> None:
    with pytest.raises(InvalidInput, match="line of a checkpoint"):
        sign(Checkpoint(origin=origin, size=0, root=b"r" * 32), name="k", key=KEY)


@pytest.mark.parametrize(
    "given",
    [
        "",
        "k",
        "k+00000000+AAAA",
        "k+c74f20a3+!!",
        "k+c74f20a3+é",
        "k+00000000+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW",
    ],
)
def test_what_is_no_key_is_refused(given: str) -> None:
    with pytest.raises(InvalidInput):
        Verifier.parse(given)


# The inputs and tree hashes of the reference implementation of Certificate Transparency.
INPUTS = ["", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f"]
ROOTS = [
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
]
LEAVES = [leaf_hash(bytes.fromhex(text)) for text in INPUTS]


def leaves_of(count: int) -> list[bytes]:
    return [leaf_hash(str(at).encode()) for at in range(count)]


def defined_root(leaves: list[bytes]) -> bytes:
    """The definition of section 2.1, word by word."""
    if not leaves:
        return hashlib.sha256(b"").digest()
    if len(leaves) == 1:
        return leaves[0]
    k = 1
    while k * 2 < len(leaves):
        k *= 2
    return node_hash(defined_root(leaves[:k]), defined_root(leaves[k:]))


def nodes_of(leaves: list[bytes]) -> Node:
    frontier, known = Frontier(), dict[tuple[int, int], bytes]()
    for leaf in leaves:
        known |= {(level, place): top for level, place, top in frontier.append(leaf)}
    return lambda level, place: known[level, place]


@pytest.mark.parametrize("size", range(1, 9))
def test_published_trees_have_their_published_hashes(size: int) -> None:
    assert ROOTS[size - 1] == root(LEAVES[:size]).hex()


def test_the_empty_tree_has_the_hash_of_nothing() -> None:
    assert EMPTY_ROOT == root([]) == root_of(0, nodes_of([]))


@given(size=st.integers(0, 70))
def test_a_tree_that_grew_leaf_by_leaf_has_the_hash_of_the_definition(size: int) -> None:
    leaves = leaves_of(size)

    assert defined_root(leaves) == root(leaves) == root_of(size, nodes_of(leaves))


@pytest.mark.parametrize("size", [1, 2, 3, 7, 8, 33])
def test_every_leaf_is_proven_and_no_other(size: int) -> None:
    leaves = leaves_of(size)
    node, top = nodes_of(leaves), root(leaves)
    for index, leaf in enumerate(leaves):
        proof = inclusion_proof(index, size, node)
        assert len(proof) <= size.bit_length()
        assert verify_inclusion(leaf, index, size, proof, top)
        assert not verify_inclusion(leaf_hash(b"other"), index, size, proof, top)
        assert not verify_inclusion(leaf, index, size, proof, leaf_hash(b"other"))
        assert not verify_inclusion(leaf, index, size, [*proof, leaf], top)
        assert size == 1 or not verify_inclusion(leaf, (index + 1) % size, size, proof, top)
        assert not proof or not verify_inclusion(leaf, index, size, proof[:-1], top)


@given(old=st.integers(0, 70), more=st.integers(0, 70))
def test_a_larger_tree_is_shown_to_have_grown_from_the_smaller(old: int, more: int) -> None:
    leaves = leaves_of(old + more)
    before, after = root(leaves[:old]), root(leaves)
    proof = consistency_proof(old, old + more, nodes_of(leaves))

    assert verify_consistency(old, old + more, before, after, proof)
    if more:
        assert not verify_consistency(old, old + more, leaf_hash(b"x"), after, proof)
    if old and more:
        assert not verify_consistency(old, old + more, before, leaf_hash(b"x"), proof)
        assert not verify_consistency(old, old + more, before, after, [*proof, after])


@given(size=st.integers(2, 40), data=st.data())
def test_a_changed_history_is_not_consistent(size: int, data: st.DataObject) -> None:
    leaves = leaves_of(size)
    old = data.draw(st.integers(1, size - 1))
    changed = [*leaves]
    changed[data.draw(st.integers(0, old - 1))] = leaf_hash(b"changed")

    proof = consistency_proof(old, size, nodes_of(changed))

    assert not verify_consistency(old, size, root(leaves[:old]), root(changed), proof)


def test_what_cannot_be_proven_is_refused() -> None:
    with pytest.raises(ValueError, match="Leaf 3 is not in a tree of 3"):
        inclusion_proof(3, 3, nodes_of(leaves_of(3)))
    with pytest.raises(ValueError, match="does not begin"):
        consistency_proof(4, 3, nodes_of(leaves_of(4)))
    with pytest.raises(ValueError, match="has 2 subtrees"):
        Frontier(3, [EMPTY_ROOT])


@pytest.mark.parametrize("first", [0, 1, 255, 256, 300])
@pytest.mark.parametrize("count", [0, 1, 255, 256, 257, 700])
def test_many_leaves_at_once_make_the_tree_that_one_after_the_other_makes(first: int, count: int) -> None:
    single, many = Frontier(), Frontier()
    leaves = leaves_of(first + count)
    for leaf in leaves[:first]:
        single.append(leaf)
        many.append(leaf)

    finished = [node for leaf in leaves[first:] for node in single.append(leaf)]

    assert [row for row in finished if row[0] == 8] == many.extend(leaves[first:])
    assert single.subtrees == many.subtrees


def test_many_leaves_at_once_tell_every_subtree_that_is_kept() -> None:
    leaves = leaves_of(1 << 16)

    finished = Frontier().extend(leaves)

    assert [(8, place) for place in range(256)] == [row[:2] for row in finished if row[0] == 8]
    assert [(16, 0, root(leaves))] == [row for row in finished if row[0] == 16]
    assert {8, 16} == {row[0] for row in finished}
