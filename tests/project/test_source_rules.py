"""The rules on sources that no linter knows find what they look for."""

from __future__ import annotations

import ast
from pathlib import Path

from check_sizes import check_text, check_tree


def test_names_that_say_nothing_are_told() -> None:
    tree = ast.parse("def one(kept):\n    found = 1\n    return found + kept\n\nfound = 2\n")
    told = list(check_tree(Path("sdk/any.py"), tree))
    assert len(told) == 2
    assert {"'found' of one", "'kept' of one"} == {line.split(": ")[1].split(" does")[0] for line in told}


def test_what_is_too_long_is_told() -> None:
    tree = ast.parse("def long():\n" + "    pass\n" * 61)
    assert "62 lines" in next(check_tree(Path("sdk/any.py"), tree))
    assert "401 lines" in next(check_text(Path("sdk/any.py"), "\n" * 401))
