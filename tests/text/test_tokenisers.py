"""Tokens of text and text of tokens: both kinds of files, and what is refused of them."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tilewright.errors import TilewrightError, UnsupportedError, UsageError
from tilewright.text.read import read_tokeniser
from tilewright.text.sampler import Sampler, Sampling

WORDS = ("a", "b", " ", "\u00e9", "ab", " a", "ba", " ab", "abab")
SCORES = (-1.0, -1.0, -1.0, -1.0, -3.0, -2.0, -4.0, -5.0, -6.0)


def table(folder: Path) -> Path:
    """A table as llama2.c writes it: three marks, 256 bytes, then words with scores."""
    words = [b"<unk>", b"<s>", b"</s>", *(f"<0x{byte:02X}>".encode() for byte in range(256))]
    entries = [(word, 0.0) for word in words] + [(w.encode(), s) for w, s in zip(WORDS, SCORES, strict=True)]
    raw = struct.pack("<i", 8) + b"".join(struct.pack("<fi", score, len(word)) + word for word, score in entries)
    (folder / "tokenizer.bin").write_bytes(raw)
    return folder / "tokenizer.bin"


def saved(folder: Path, **changes: Any) -> Path:
    """A tokenizer.json of letters and merges."""
    vocabulary = {"<unk>": 0, "a": 1, "b": 2, "c": 3, "ab": 4, "bc": 5, "abc": 6}
    model = {"type": "BPE", "vocab": vocabulary, "unk_token": "<unk>", "merges": ["b c", "a b", "a bc"]}
    data = {"model": model | changes.pop("model", {}), **changes}
    (folder / "tokenizer.json").write_text(json.dumps(data))
    return folder / "tokenizer.json"


def test_a_table_merges_by_its_scores(tmp_path: Path) -> None:
    known = read_tokeniser(table(tmp_path))
    at = {word: 259 + place for place, word in enumerate(WORDS)}
    assert known.encode("abab") == (1, at[" ab"], at["ab"])  # " a" has the best score, so the first "ab" waits
    assert known.encode("baab") == (1, at[" "], at["ba"], at["ab"])
    assert known.encode("x\u00e9") == (1, at[" "], 3 + ord("x"), at["\u00e9"])
    for text in ("abab", " ba ab", "x\u20ac\n", ""):
        assert known.decode(known.encode(text)) == text


def test_merges_go_by_their_rank(tmp_path: Path) -> None:
    known = read_tokeniser(saved(tmp_path))
    assert known.encode("abc") == (6,)
    assert known.encode("abcab?") == (6, 4, 0)
    assert known.decode((4, 3)) == "abc"


def test_blanks_may_be_marks(tmp_path: Path) -> None:
    steps = [
        {"type": "Prepend", "prepend": "\u2581"},
        {"type": "Replace", "pattern": {"String": " "}, "content": "\u2581"},
    ]
    vocabulary = {"<s>": 0, "\u2581": 1, "a": 2, "\u2581a": 3}
    wish = {"vocab": vocabulary, "merges": [["\u2581", "a"]]}
    known = read_tokeniser(saved(tmp_path, normalizer={"type": "Sequence", "normalizers": steps}, model=wish))
    assert known.encode("a a") == (0, 3, 3)
    assert known.decode((0, 3, 3)) == "a a"


@pytest.mark.parametrize(
    ("change", "kind", "words"),
    [
        ({"model": {"type": "WordPiece"}}, UnsupportedError, "'WordPiece'"),
        ({"pre_tokenizer": {"type": "ByteLevel"}}, UnsupportedError, "'ByteLevel'"),
        ({"normalizer": {"type": "NFKC"}}, UnsupportedError, "'NFKC'"),
        ({"model": {"vocab": {"a": 0, "b": 2}}}, UsageError, "numbered from 0 on"),
        ({"model": {"merges": ["a q"]}}, UsageError, "q"),
    ],
)
def test_what_would_give_other_tokens_is_refused(
    tmp_path: Path, change: dict[str, Any], kind: type[TilewrightError], words: str
) -> None:
    with pytest.raises(kind, match="tokeniser") as caught:
        read_tokeniser(saved(tmp_path, **change))
    assert words in str(caught.value)


@pytest.mark.parametrize("cut", [lambda raw: raw[:-3], lambda raw: raw[:3], lambda raw: b"\xff" * 40])
def test_a_damaged_table_is_refused(tmp_path: Path, cut: Callable[[bytes], bytes]) -> None:
    file = table(tmp_path)
    file.write_bytes(cut(file.read_bytes()))
    with pytest.raises(UsageError, match="is no tokeniser"):
        read_tokeniser(file)


def test_tokens_are_drawn_by_their_probabilities() -> None:
    scores = np.log(np.array([0.5, 0.1, 0.3, 0.1], np.float32))
    all_of_them, best_two = (Sampler(Sampling(1.0, part, seed=3)) for part in (1.0, 0.75))
    counts = np.bincount([all_of_them.choose(scores) for _ in range(4000)], minlength=4) / 4000
    np.testing.assert_allclose(counts, [0.5, 0.1, 0.3, 0.1], atol=0.03)
    counts = np.bincount([best_two.choose(scores) for _ in range(4000)], minlength=4) / 4000
    np.testing.assert_allclose(counts, [0.625, 0, 0.375, 0], atol=0.03)
    assert Sampler(Sampling()).choose(np.array([1, 7, 7, 0], np.float32)) == 1
