"""Byte-pair encoding: text as numbers of tokens and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise


@dataclass(frozen=True)
class Merge:
    """Two tokens that stand beside one another become a third; of those that may, the lowest `rank` does first."""

    left: int
    right: int
    result: int
    rank: int


@dataclass(frozen=True)
class Tokeniser:
    """The bytes of every token, and which pairs merge.

    `begin` is the token before a text and `end` that behind it, None where there is none. A character that is no token
    becomes the tokens of its bytes, which follow one another from `first_byte` on; `unknown` stands for it where that
    is None. `leading_blank` puts a blank before a text, which is not printed.
    """

    pieces: tuple[bytes, ...]
    merges: tuple[Merge, ...]
    begin: int | None = None
    end: int | None = None
    first_byte: int | None = None
    unknown: int | None = None
    leading_blank: bool = False

    @cached_property
    def _ranks(self) -> Mapping[tuple[int, int], Merge]:
        return {(merge.left, merge.right): merge for merge in self.merges}

    @cached_property
    def characters(self) -> Mapping[bytes, int]:
        """The first token of each single character, tokens of bytes and of marks left out."""
        marks = {self.begin, self.end, self.unknown}
        of_bytes = range(0) if self.first_byte is None else range(self.first_byte, self.first_byte + 256)
        token_of: dict[bytes, int] = {}
        for token, piece in enumerate(self.pieces):
            if is_character(piece) and token not in marks and token not in of_bytes:
                token_of.setdefault(piece, token)
        return token_of

    def encode(self, text: str) -> tuple[int, ...]:
        """The tokens of a text, `begin` first; a character that nothing stands for is left out."""
        tokens = [] if self.begin is None else [self.begin]
        whole = (" " if self.leading_blank and text else "") + text
        return (*tokens, *self._merged([token for letter in whole for token in self._of_character(letter)]))

    def _of_character(self, letter: str) -> Sequence[int]:
        raw = letter.encode("utf-8", errors="replace")
        if raw in self.characters:
            return (self.characters[raw],)
        if self.first_byte is not None:
            return [self.first_byte + byte for byte in raw]
        return () if self.unknown is None else (self.unknown,)

    def _merged(self, tokens: list[int]) -> list[int]:
        while True:
            best: tuple[int, int] | None = None
            for at, pair in enumerate(pairwise(tokens)):
                merge = self._ranks.get(pair)
                if merge is not None and (best is None or merge.rank < best[0]):
                    best = merge.rank, at
            if best is None:
                return tokens
            at = best[1]
            tokens[at : at + 2] = [self._ranks[tokens[at], tokens[at + 1]].result]

    def piece(self, previous: int | None, token: int) -> bytes:
        """The bytes that a token adds behind the one before it."""
        if token in (self.begin, self.end):
            return b""
        piece = self.pieces[token]
        first = self.leading_blank and (previous is None or previous == self.begin)
        return piece.removeprefix(b" ") if first else piece

    def decode(self, tokens: Sequence[int]) -> str:
        """The text of tokens; bytes that are no UTF-8 show as replacement characters."""
        before = (None, *tokens)
        pieces = (self.piece(previous, token) for previous, token in zip(before, tokens, strict=False))
        return b"".join(pieces).decode("utf-8", errors="replace")


def is_character(piece: bytes) -> bool:
    """True where these bytes are one character in UTF-8."""
    try:
        return len(piece.decode("utf-8")) == 1
    except UnicodeDecodeError:
        return False
