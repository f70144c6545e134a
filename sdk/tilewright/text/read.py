"""Tokenisers from files: a `tokenizer.json` with byte-pair merges, and the table of llama2.c."""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tilewright.errors import UnsupportedError, UsageError
from tilewright.text.tokeniser import Merge, Tokeniser

LARGEST_FILE, MOST_TOKENS = 64 << 20, 65535
BLANK = "\u2581"
"""What SentencePiece writes for a blank."""
_BYTE = re.compile(r"<0x([0-9A-F]{2})>")
_BEGIN, _END = ("<s>", "<|begin_of_text|>", "<bos>"), ("</s>", "<|end_of_text|>", "<|endoftext|>", "<eos>")


def read_tokeniser(file: Path) -> Tokeniser:
    """The tokeniser of a file; UsageError where it is none, UnsupportedError for forms that would give other tokens."""
    try:
        if file.stat().st_size > LARGEST_FILE:
            raise UsageError(f"'{file}' is no tokeniser", why=f"it has more than {LARGEST_FILE >> 20} MiB")
        raw = file.read_bytes()
    except OSError as error:
        raise UsageError(f"cannot read '{file}'", why=error.strerror or type(error).__name__) from None
    try:
        tokeniser = _of_json(json.loads(raw)) if raw.lstrip()[:1] == b"{" else _of_table(raw)
    except UnsupportedError as error:
        error.why = f"{error.why} (in {file})"
        raise
    except (ValueError, LookupError, TypeError, AttributeError, struct.error, RecursionError) as error:
        raise UsageError(
            f"'{file}' is no tokeniser", why=f"neither tokenizer.json nor a table of llama2.c: {str(error)[:160]}",
            fix="name the tokeniser that the model was trained with", file=str(file),
        ) from None  # fmt: skip
    if not 0 < len(tokeniser.pieces) <= MOST_TOKENS:
        raise UnsupportedError(
            f"'{file}' has {len(tokeniser.pieces)} tokens", why=f"1 to {MOST_TOKENS} can be numbered"
        )
    return tokeniser


@dataclass(frozen=True)
class _Entry:
    piece: bytes
    score: float


def _of_table(raw: bytes) -> Tokeniser:
    """The longest token's bytes as an int32, then of each token a float32 score, an int32 length and its bytes.

    Two neighbours merge where the table holds them as one; the best score comes first.
    """
    entries = list(_entries(raw))
    pieces = [entry.piece for entry in entries]
    of_bytes = {int(match[1], 16): at for at, piece in enumerate(pieces) if (match := _BYTE.fullmatch(_text(piece)))}
    first = of_bytes.get(0)
    if first is None or any(of_bytes.get(byte) != first + byte for byte in range(256)):
        raise UnsupportedError("the tokeniser", why="its table has no tokens of bytes that follow one another")
    marks = range(first)
    for byte in range(256):
        pieces[first + byte] = bytes([byte])
    whole = {piece: at for at, piece in reversed(list(enumerate(pieces))) if at not in marks and at not in range(
        first, first + 256)}  # fmt: skip
    scores = sorted({entry.score for entry in entries}, reverse=True)
    ranks = {score: rank for rank, score in enumerate(scores)}
    merges = [
        Merge(whole[piece[:cut]], whole[piece[cut:]], token, ranks[entries[token].score])
        for piece, token in whole.items() for cut in range(1, len(piece))
        if piece[:cut] in whole and piece[cut:] in whole
    ]  # fmt: skip
    return Tokeniser(tuple(pieces), _sorted(merges), 1, 2, first, 0, leading_blank=True)


def _entries(raw: bytes) -> Iterator[_Entry]:
    at, longest = 4, struct.unpack_from("<i", raw)[0]
    while at < len(raw):
        score, size = struct.unpack_from("<fi", raw, at)
        piece = raw[at + 8 : at + 8 + size]
        if not 0 <= size <= longest + 8 or len(piece) != size:
            raise ValueError(f"a token has {size} bytes")
        yield _Entry(piece, score)
        at += 8 + size


def _text(piece: bytes) -> str:
    return piece.decode("utf-8", errors="replace")


def _of_json(data: Mapping[str, Any]) -> Tokeniser:
    """What the library `tokenizers` saves, where nothing but merges cuts the text."""
    model = data["model"]
    if model.get("type", "BPE") != "BPE" or data.get("pre_tokenizer") is not None:
        named = model.get("type") if model.get("type", "BPE") != "BPE" else data["pre_tokenizer"].get("type")
        raise UnsupportedError(
            "the tokeniser",
            why=f"it cuts text by '{named}', only byte-pair merges over whole texts are computed",
        )
    blank = _writes_blanks(data.get("normalizer"))
    numbers: dict[str, int] = {**model["vocab"]}
    for added in data.get("added_tokens") or ():
        numbers.setdefault(added["content"], added["id"])
    if sorted(numbers.values()) != list(range(len(numbers))):
        raise ValueError("its tokens are not numbered from 0 on")
    texts = sorted(numbers, key=lambda text: numbers[text])
    pieces = tuple(_bytes(text, blanks=blank is not None) for text in texts)
    pairs = (merge.split(" ") if isinstance(merge, str) else merge for merge in model["merges"])
    merges = [
        Merge(numbers[left], numbers[right], numbers[left + right], rank) for rank, (left, right) in enumerate(pairs)
    ]
    first = numbers.get("<0x00>") if model.get("byte_fallback") else None
    if first is not None and any(numbers.get(f"<0x{byte:02X}>") != first + byte for byte in range(256)):
        raise UnsupportedError("the tokeniser", why="its tokens of bytes do not follow one another")
    begin, end = (next((numbers[name] for name in names if name in numbers), None) for names in (_BEGIN, _END))
    return Tokeniser(pieces, _sorted(merges), begin, end, first, numbers.get(model.get("unk_token")), bool(blank))


def _writes_blanks(normaliser: Mapping[str, Any] | None) -> bool | None:
    """None where blanks are blanks; else whether one is put before the text."""
    if normaliser is None:
        return None
    steps = normaliser["normalizers"] if normaliser["type"] == "Sequence" else [normaliser]
    blanks, leading = False, False
    for step in steps:
        if step["type"] == "Prepend" and step["prepend"] == BLANK:
            leading = True
        elif step["type"] == "Replace" and step["content"] == BLANK and step["pattern"] == {"String": " "}:
            blanks = True
        else:
            raise UnsupportedError("the tokeniser", why=f"its normaliser '{step['type']}' changes the text")
    if leading and not blanks:
        raise UnsupportedError("the tokeniser", why="it begins a text with a mark that is not a blank")
    return leading if blanks else None


def _bytes(text: str, *, blanks: bool) -> bytes:
    if match := _BYTE.fullmatch(text):
        return bytes([int(match[1], 16)])
    return (text.replace(BLANK, " ") if blanks else text).encode()


def _sorted(merges: Sequence[Merge]) -> tuple[Merge, ...]:
    return tuple(sorted(merges, key=lambda merge: (merge.left, merge.right)))
