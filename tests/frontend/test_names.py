"""Names from a file are untrusted; what `c_identifier` returns is not."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tilewright.frontend.names import RESERVED, c_identifier, nearest, quoted, unique


@pytest.mark.parametrize(
    ("text", "identifier"),
    [
        ("conv1", "conv1"),
        ("a b", "a_b"),
        ("int", "int_t"),
        ("class", "class_t"),
        ("exp", "exp_t"),
        ("linux", "linux_t"),
        ("main", "main_t"),
        ('"); system("', "system"),
        ("", "unnamed"),
        ("!?", "unnamed"),
        ("7seg", "t_7seg"),
        ("__reserved", "reserved"),
        ("model/conv:0", "model_conv_0"),
        ("größe", "große".replace("ß", "_").replace("__", "_")),
        ("Ångström", "Angstrom"),
        ("層", "unnamed"),
        ("*/ int evil; /*", "int_evil"),
        ("a\nb", "a_b"),
    ],
)
def test_any_text_becomes_an_identifier(text: str, identifier: str) -> None:
    assert c_identifier(text, set()) == identifier


def test_names_that_collide_stay_apart_and_the_same_calls_give_the_same_names() -> None:
    def run() -> list[str]:
        taken: set[str] = set()
        return [c_identifier(text, taken) for text in ("a b", "a_b", "a-b", "a_b_2", "x" * 4096, "x" * 4097)]

    names = run()
    assert names[:4] == ["a_b", "a_b_2", "a_b_3", "a_b_2_2"]
    assert len(set(names)) == 6
    assert names == run()
    assert all(len(name) <= 63 for name in names)


def test_a_limit_shorter_than_the_standard_s_can_be_asked_for() -> None:
    taken: set[str] = set()
    names = [c_identifier("network" * 20, taken, 32) for _ in range(20)]
    assert len(set(names)) == 20
    assert all(len(name) <= 32 for name in names)


def test_thousands_of_equal_names_are_cheap() -> None:
    taken: set[str] = set()
    assert len({c_identifier("層", taken) for _ in range(20_000)}) == 20_000
    taken = set()
    assert len({unique("x", taken) for _ in range(20_000)}) == 20_000


@given(st.lists(st.text(max_size=80), max_size=8))
def test_identifiers_are_valid_unique_and_unreserved(texts: list[str]) -> None:
    taken: set[str] = set()
    names = [c_identifier(text, taken) for text in texts]
    assert len(set(names)) == len(texts)
    for name in names:
        assert re.fullmatch(r"[A-Za-z][A-Za-z0-9_]{0,62}", name)
        assert name not in RESERVED
        assert "__" not in name


def test_quoted_names_are_printable_and_short() -> None:
    assert quoted("conv") == "'conv'"
    assert quoted("a\nb\x1b[31m") == "'a?b?[31m'"
    assert quoted("y" * 4096) == "'" + "y" * 57 + "...' (4096 characters)"


def test_nearest_suggests_or_lists() -> None:
    assert nearest("inptu", ["input", "mask"]) == "did you mean 'input'?"
    assert nearest("zzz", ["input", "mask"]) == "there are 'input', 'mask'"
    assert nearest("zzz", [f"t{i}" for i in range(9)]) == "there are 't0', 't1', 't2', 't3', 't4', 't5' and 3 more"
    assert nearest("zzz", []) == "there are none"
