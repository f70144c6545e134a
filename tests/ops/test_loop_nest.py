"""Loop nests as values: what they print, and which loops may be handed to cores or threads."""

from __future__ import annotations

from tilewright.model import DType
from tilewright.ops.index.affine import Affine
from tilewright.ops.index.body import COMBINES, body
from tilewright.ops.index.loop_nest import ConstantTable, Guard, Loop, LoopNest, Loops, c_lines, declarations
from tilewright.ops.index.nest import Nest, Space, Tensor
from tilewright.platforms.generic.kernels.nest_loops import loop_nest

OUTER, INNER, REDUCED = Loop("i", 4, parallel=True), Loop("j", 3, parallel=True), Loop("k", 2)


def test_loops_guards_and_blocks_are_printed() -> None:
    parts = (Loops((OUTER, REDUCED), (Guard(("i > k", "k < 1"), ("y[i] += x[k];",)),)), Loops((), ("done();",)))
    assert c_lines(parts) == [
        "for (int i = 0; i < 4; i++) {",
        "    for (int k = 0; k < 2; k++) {",
        "        if (i > k && k < 1) {",
        "            y[i] += x[k];",
        "        }",
        "    }",
        "}",
        "{",
        "    done();",
        "}",
    ]


def test_parallel_loops_around_everything_are_shared() -> None:
    inner = ("y[i] = x[j];",)
    assert LoopNest("", (Loops((OUTER, INNER), inner),)).shared == Loops((OUTER, INNER), inner)
    assert LoopNest("", (Loops((OUTER, REDUCED), inner),)).shared == Loops((OUTER,), (Loops((REDUCED,), inner),))
    assert LoopNest("", (Loops((REDUCED, OUTER), inner),)).shared == Loops((), (Loops((REDUCED, OUTER), inner),))
    assert LoopNest("", (Loops((), inner),)).shared == Loops((), (Loops((), inner),))
    assert LoopNest("", ()).shared == Loops((), ())
    assert LoopNest("", (Loops((OUTER,), inner), Loops((INNER,), inner))).shared is None
    assert LoopNest("", ("y[0] = 1;",)).shared is None


def test_a_table_is_declared_once() -> None:
    table = ConstantTable("places", "int", 2, "0, 3")
    assert declarations([LoopNest("", (), (table,)), LoopNest("", (), (table,))]) == (
        "static const int places[2] = {0, 3};",
    )


def test_reductions_of_index_maps_are_not_parallel() -> None:
    m, k = (Affine.loop(name) for name in "mk")
    x, w, y = Tensor("x", (5, 7), DType.I32), Tensor("w", (7,), DType.I32), Tensor("y", (5,), DType.I32)
    nest = Nest(Space.of(m=5, k=7), y[m], (x[m, k], w[k]), body("mul"), COMBINES["add"])
    built = loop_nest(nest, {}, 0, None)
    assert built.shared is not None
    assert built.shared.loops == (Loop("m", 5, parallel=True),)
    reduced = next(part for part in built.shared.body if isinstance(part, Loops))
    assert reduced.loops == (Loop("k", 7),)
    assert (sorted(built.reads), sorted(built.writes)) == (["w", "x"], ["y"])
