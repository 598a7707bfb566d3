from __future__ import annotations

import hashlib
import unicodedata

import pytest
import tokenizers
from hypothesis import given
from hypothesis import strategies as st

from hexad.errors import InvalidInput
from hexad.providers.embedders.minilm import WordPiece, load_vocabulary

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
