"""A kernel class is checked where it is declared: what nothing would call, or call otherwise, is refused."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from tilewright.errors import PlatformError
from tilewright.layout import Layout
from tilewright.model import DType, Node, Tensor
from tilewright.ops.registry import call_of
from tilewright.platform import (
    Call,
    Constant,
    Kernel,
    KernelMethods,
    Needs,
    Operands,
    Platform,
    Rule,
    TiledKernelMethods,
    TileView,
    Work,
)

TENSOR = Tensor("x", DType.F32, (2, 3))
CALL = call_of(Node("relu", "Relu", ("x",), ("y",)), (TENSOR,), (Tensor("y", DType.F32, (2, 3)),))


def declare(cls: Any) -> Kernel:
    """The class as a kernel of a platform of its own."""
    acme = Platform("acme", "", [])
    acme.kernel("Relu", types="f32 -> f32", template="relu.c.mako")(cls)
    (kernel,) = acme.own_kernels()
    return kernel


def refusal(cls: Any) -> str:
    with pytest.raises(PlatformError) as caught:
        declare(cls)
    return str(caught.value)


def test_a_misspelt_method_is_refused_with_the_nearest_name() -> None:
    class Relu(KernelMethods):
        def scrach(self, operands: Operands) -> int:
            return 64

    assert refusal(Relu) == (
        "kernel class 'Relu' has a public 'scrach' that KernelMethods has not: nothing calls a method of that name; "
        "did you mean 'scratch'?"
    )


def test_an_unknown_method_of_a_base_class_is_refused_too() -> None:
    class Base(KernelMethods):
        def accept(self, call: Call) -> str | None:
            return "never"

    class Relu(Base):
        def accepts(self, call: Call) -> str | None:
            return None

    assert "has a public 'accept'" in refusal(Relu)


def test_a_method_that_is_like_no_other_is_told_which_there_are() -> None:
    class Relu(KernelMethods):
        width = 4

    assert refusal(Relu).endswith(
        "its methods are accepts, adds_in_order, adds_planes, at_rest, constants, context, cost, in_place, overlap, "
        "row_moves, scratch; "
        "begin the names of others with '_'"
    )


def test_rules_need_the_class_of_tiled_kernels() -> None:
    class Relu(KernelMethods):
        def rules(self, call: Call) -> list[Rule]:
            return []

    assert refusal(Relu).endswith("a kernel that computes tiles derives from TiledKernelMethods")


def test_a_wrong_signature_is_refused() -> None:
    class Relu(KernelMethods):
        def scratch(self, call: Call) -> int:  # type: ignore[override]
            return call.tensor(0).elements

    class Gelu(KernelMethods):
        scratch = 64  # type: ignore[assignment]

    assert refusal(Relu) == (
        "'scratch' of kernel class 'Relu' takes (self, call): it is called as (self, operands); "
        "write def scratch(self, operands)"
    )
    assert refusal(Gelu).startswith("'scratch' of kernel class 'Gelu' is no method: it is called as (self, operands)")


def test_a_class_of_nothing_is_refused() -> None:
    class Relu:
        pass

    assert refusal(Relu) == (
        "kernel class 'Relu' is no KernelMethods: that class answers what it does not answer itself; "
        "write class Relu(KernelMethods), or (TiledKernelMethods) where it computes tiles"
    )


def test_a_kernel_that_does_not_describe_its_tiles_is_refused() -> None:
    class Typeless(TiledKernelMethods):
        def rules(self, call: Call) -> list[Rule]:
            return []

        def tile(self, call: Call, view: TileView) -> Mapping[str, int]:
            return {}

    class Ruleless(TiledKernelMethods):
        tile_type = "acme_tile"

        def tile(self, call: Call, view: TileView) -> Mapping[str, int]:
            return {}

    for cls in (Typeless, Ruleless):
        assert refusal(cls) == (
            f"kernel '{cls.__name__}' can be cut but does not describe its tiles: its class lacks 'tile_type' or the "
            "method 'tile' or 'rules'; declare them, or derive it from KernelMethods"
        )


def test_a_class_that_says_nothing_takes_the_answers_of_its_base() -> None:
    class Plain(KernelMethods):
        """The first line.

        No other line."""

    kernel, operands = declare(Plain), Operands(CALL)
    assert kernel.summary == "The first line."
    assert (kernel.accepts(CALL), kernel.tileable, kernel.rules(CALL)) == (None, False, [])
    assert kernel.cycles(CALL, {}) is None
    assert (kernel.constants(operands), kernel.scratch(operands), kernel.context(operands)) == ((), 0, None)
    assert (kernel.declared_cost(CALL), kernel.cost(CALL)) == (None, 6.0)
    assert (kernel.overlap(operands), kernel.in_place(CALL), kernel.tile_scratch(operands, {})) == ((), (), 0)
    assert operands.layout(TENSOR) == Layout.default((2, 3))


def test_working_memory_of_a_tile_is_that_of_the_call_where_none_is_told() -> None:
    class Tiled(TiledKernelMethods):
        tile_type = "acme_tile"

        def rules(self, call: Call) -> list[Rule]:
            return []

        def tile(self, call: Call, view: TileView) -> Mapping[str, int]:
            return {}

        def scratch(self, operands: Operands) -> int:
            return 48

        def constants(self, operands: Operands) -> tuple[Constant, ...]:
            return ()

    kernel = declare(Tiled)
    assert kernel.tileable
    assert kernel.tile_scratch(Operands(CALL), {"i0": 1}) == 48
    assert kernel.cycles(CALL, {"i0": 1}) is None


@pytest.mark.parametrize(
    ("needs", "words", "sentence"),
    [
        (Needs(), (), None),
        (Needs(has=("dsp",)), ("dsp",), None),
        (Needs(has=("dsp", "mve")), ("dsp", "mve"), "the core has no 'mve' among its capabilities"),
        (Needs(lacks=("fpu",)), ("no fpu",), "the core has 'fpu' among its capabilities"),
        (Needs(lacks=("mve",)), ("no mve",), None),
        (Needs(optimize="speed"), ("--optimize speed",), "it is offered with --optimize speed only"),
        (Needs(optimize="size"), ("--optimize size",), None),
        (Needs(engine="npu"), ("engine npu",), "the platform declares no engine npu"),
    ],
)
def test_needs_are_held_against_the_core(needs: Needs, words: tuple[str, ...], sentence: str | None) -> None:
    assert needs.words() == words
    assert bool(needs) == bool(words)
    assert needs.unmet(["dsp", "fpu"], ["size"]) == sentence


@dataclass(frozen=True)
class Sums(Work):
    """Products and results."""

    products: float
    results: float


def test_work_is_priced_kind_by_kind() -> None:
    assert Sums(products=100, results=4).priced(Sums(products=1.5, results=10.0)) == 190.0
    with pytest.raises(ValueError):
        Sums(products=100, results=4).priced(Work())  # type: ignore[arg-type]


@pytest.mark.parametrize(("dtype", "count", "size_bytes"), [(DType.I4, 5, 3), (DType.I16, 5, 10), (DType.I8, 0, 0)])
def test_bytes_of_a_constant_are_rounded_up(dtype: DType, count: int, size_bytes: int) -> None:
    assert Constant("w", dtype, np.zeros(count, np.int8)).size_bytes == size_bytes


def test_names_that_begin_with_an_underscore_are_ones_own() -> None:
    class Relu(KernelMethods):
        _width = 4

        def _blocks(self, call: Call) -> int:
            return call.tensor(0).elements // self._width

    assert re.fullmatch("Relu", declare(Relu).name)
