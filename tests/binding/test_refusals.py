"""What is said where no kernels go together, and how far the search goes back where some do."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from binding.drawn_bindings import PLATFORM, kernel
from tilewright.binding.bind import PASSED_OVER, bind
from tilewright.binding.graph import Refusal
from tilewright.binding.search import Conflict, _Search
from tilewright.errors import UnsupportedNode
from tilewright.kernel import LayoutRule
from tilewright.model import Attribute, DType, Model, Node, Quantisation, Shape, Tensor
from tilewright.platform import Kernel
from tilewright.report.explain import explain

ROOT = Path(__file__).parents[2]
SHAPE = (1, 2, 3, 4)
FIRST = kernel("ReluLast", "Relu", ("default", "channels_last"))
SECOND = kernel("ReluRows", "Relu", ("default", "default"))
NEG = kernel("NegAny", "Neg", ("any", "same"))
EXP = kernel("ExpRows", "Exp", ("default", "default"))
TANH = kernel("TanhLast", "Tanh", ("channels_last", "channels_last"))
MOVE = kernel("Move", "Relayout", ("any", "any"), "f32 -> f32")
FIX = "or add a kernel that fits its neighbours for one of these nodes"
ADD = "inherit from 'generic' or add a Relayout kernel that takes f32"


def chain(*ops: str | tuple[str, Shape] | tuple[str, Shape, tuple[int, ...]], outputs: tuple[str, ...] = ()) -> Model:
    """One operator after the other, t0, t1, ...; a view comes with the shape of its result and how it permutes."""
    tensors, nodes, last = {"x": Tensor("x", DType.F32, SHAPE)}, list[Node](), "x"
    for number, entry in enumerate(ops):
        op, shape, *perm = entry if isinstance(entry, tuple) else (entry, tensors[last].shape)
        attributes: dict[str, Attribute] = {"perm": perm[0]} if perm else {}
        nodes.append(Node(f"n{number}", op, (last,), (f"t{number}",), attributes))
        last = f"t{number}"
        tensors[last] = Tensor(last, DType.F32, shape)
    return Model("chain", tuple(nodes), tensors, {}, ("x",), outputs or (last,), 21)


def bound(model: Model, *kernels: Kernel) -> list[str]:
    """The kernels in order, "view" for a view."""
    return [n.kernel.name if n.kernel else "view" for n in bind(model, PLATFORM, kernels).nodes]


def refused(model: Model, *kernels: Kernel) -> UnsupportedNode:
    """The error."""
    with pytest.raises(UnsupportedNode) as error:
        bind(model, PLATFORM, kernels)
    return error.value


@pytest.mark.parametrize("between", range(5))
def test_the_blame_goes_back_through_nodes_that_follow_their_operand(between: int) -> None:
    model = chain("Relu", *["Neg"] * between, "Exp")
    assert bound(model, FIRST, SECOND, NEG, EXP) == ["ReluRows", *["NegAny"] * between, "ExpRows"]


@pytest.mark.parametrize("rule", ["same", "like"])
def test_the_blame_goes_back_through_any_rule_that_follows(rule: LayoutRule) -> None:
    follows = replace(NEG, layout=("axes", rule))
    assert bound(chain("Relu", "Neg", "Neg", "Exp"), FIRST, SECOND, follows, EXP)[0] == "ReluRows"


def test_the_blame_goes_back_through_views() -> None:
    flat = chain("Relu", ("Reshape", (6, 4)), "Exp")
    assert bound(flat, FIRST, SECOND, EXP) == ["ReluRows", "view", "ExpRows"]
    turned = chain("Relu", ("Transpose", (1, 3, 4, 2), (0, 2, 3, 1)), "Exp")
    assert bound(turned, FIRST, SECOND, EXP) == ["ReluLast", "view", "ExpRows"]


def test_outputs_are_row_major_wherever_they_are_made() -> None:
    assert bound(chain("Relu", "Neg"), FIRST, SECOND, NEG) == ["ReluRows", "NegAny"]
    model = chain("Relu", "Tanh", "Exp", outputs=("t0", "t2"))
    tanh = [replace(TANH, layout=("any", layout)) for layout in ("channels_last", "default")]
    assert bound(model, FIRST, SECOND, *tanh, EXP) == ["ReluRows", "TanhLast", "ExpRows"]


def test_of_two_outputs_in_the_same_bytes_the_one_that_nothing_copies_stays() -> None:
    model = chain("Exp", ("Reshape", (6, 4)), outputs=("t0", "t1"))
    picky = [kernel("Move", "Relayout", ("any", "any"), refused_rank=rank) for rank in (2, 4)]
    assert bind(model, PLATFORM, (EXP, picky[0])).model.outputs == ("t0_out", "t1")
    assert bind(model, PLATFORM, (EXP, picky[1])).model.outputs == ("t0", "t1_out")


def test_choices_between_are_made_anew() -> None:
    tensors = {name: Tensor(name, DType.F32, SHAPE) for name in "xaby"}
    nodes = (Node("n0", "Relu", ("x",), ("a",)), Node("n1", "Exp", ("x",), ("b",)), Node("n2", "Exp", ("a",), ("y",)))
    model = Model("between", nodes, tensors, {}, ("x",), ("b", "y"), 21)
    assert bound(model, FIRST, SECOND, EXP) == ["ReluRows", "ExpRows", "ExpRows"]


def test_layouts_are_to_blame_only_together() -> None:
    tensors = {name: Tensor(name, DType.F32, SHAPE) for name in ("x", "a", "b", "y")}
    nodes = (
        Node("n0", "Relu", ("x",), ("a",)),
        Node("n1", "Exp", ("x",), ("b",)),
        Node("n2", "Add", ("a", "b"), ("y",)),
    )
    model = Model("alike", nodes, tensors, {}, ("x",), ("y",), 21)
    add = kernel("AddAlike", "Add", ("same", "default"))
    assert bound(model, FIRST, SECOND, EXP, add) == ["ReluRows", "ExpRows", "AddAlike"]


def test_the_blame_finds_the_operand_whose_axes_were_followed() -> None:
    shapes = {"x": SHAPE, "r": SHAPE, "v": (1, 6, 4), "z": (1, 6, 4), "a": (1, 6, 4), "s": (1, 6, 4), "y": (1, 6, 4)}
    nodes = (
        Node("n0", "Tanh", ("x",), ("r",)),
        Node("n1", "Reshape", ("r",), ("v",)),
        Node("n2", "Relu", ("z",), ("a",)),
        Node("n3", "Add", ("v", "a"), ("s",)),
        Node("n4", "Exp", ("s",), ("y",)),
    )
    tensors = {name: Tensor(name, DType.F32, shape) for name, shape in shapes.items()}
    model = Model("followed", nodes, tensors, {}, ("x", "z"), ("y",), 21)
    tanh = replace(TANH, layout=("default", "channels_last"))
    add = kernel("AddLike", "Add", ("any", "like"))
    assert bound(model, tanh, FIRST, SECOND, add, EXP) == ["TanhLast", "view", "ReluRows", "AddLike", "ExpRows"]


def test_a_transpose_that_cannot_be_shown_needs_its_operand_row_major() -> None:
    model = chain("Relu", ("Reshape", (3, 8)), ("Transpose", (8, 3), (1, 0)), "Neg", "Exp")
    rows = replace(EXP, layout=("any", "default"))
    assert bound(model, FIRST, SECOND, NEG, rows) == ["ReluRows", "view", "view", "NegAny", "ExpRows"]
    assert bound(model, FIRST, SECOND, NEG, rows, MOVE) == ["ReluLast", "view", "Move", "view", "NegAny", "ExpRows"]


def test_a_view_of_a_constant_is_computed() -> None:
    tensors = {name: Tensor(name, DType.F32, shape) for name, shape in (("x", (2,)), ("c", (2,)), ("y", (1, 2)))}
    node = Node("n0", "Reshape", ("c",), ("y",))
    model = Model("constant", (node,), tensors, {"c": np.zeros(2, np.float32)}, ("x",), ("y",), 21)
    assert bound(model, kernel("Copy", "Reshape", ("default", "default"))) == ["Copy"]


def test_a_reshape_that_changes_the_quantisation_is_computed() -> None:
    codes = [Tensor(name, DType.I8, SHAPE, Quantisation((scale,), (0,))) for name, scale in (("x", 0.5), ("y", 0.25))]
    node = Node("n0", "Reshape", ("x",), ("y",))
    model = Model("codes", (node,), {t.name: t for t in codes}, {}, ("x",), ("y",), 21)
    assert bound(model, kernel("Rescale", "Reshape", ("default", "default"))) == ["Rescale"]


def test_a_scalar_is_a_row() -> None:
    tensors = {name: Tensor(name, DType.F32, ()) for name in "xy"}
    model = Model("scalar", (Node("n0", "Exp", ("x",), ("y",)),), tensors, {}, ("x",), ("y",), 21)
    assert bound(model, kernel("ExpRow", "Exp", ("rows", "default"))) == ["ExpRow"]


def test_what_a_later_stage_has_refused_is_not_taken() -> None:
    graph = bind(
        chain("Relu"), PLATFORM, (SECOND, replace(SECOND, name="Other")), {("n0", "ReluRows"): Refusal("too large")}
    )
    assert [node.kernel.name for node in graph.nodes if node.kernel] == ["Other"]


def test_what_can_be_copied_is_copied_and_nothing_is_changed() -> None:
    assert bound(chain("Relu", "Neg", "Exp"), FIRST, SECOND, NEG, EXP, MOVE) == [
        "ReluLast",
        "NegAny",
        "Move",
        "ExpRows",
    ]


def test_readers_of_one_order_share_a_copy() -> None:
    tensors = {name: Tensor(name, DType.F32, SHAPE) for name in "xrab"}
    readers = [Node(f"exp_{name}", "Exp", ("r",), (name,)) for name in "ab"]
    model = Model("shared", (Node("relu", "Relu", ("x",), ("r",)), *readers), tensors, {}, ("x",), ("a", "b"), 21)
    assert bound(model, FIRST, EXP, MOVE) == ["ReluLast", "Move", "ExpRows", "ExpRows"]


def test_explain_says_which_kernels_were_passed_over() -> None:
    graph = bind(chain("Relu", "Neg", "Exp"), PLATFORM, (FIRST, SECOND, NEG, EXP))
    assert [c.refusal for c in graph.nodes[0].candidates] == [PASSED_OVER, None]
    assert f"ReluLast of acme: {PASSED_OVER}" in explain(graph)


def test_the_sentence_names_nodes_kernels_and_what_each_wants() -> None:
    error = refused(chain("Tanh", "Relu", "Neg", "Exp"), replace(TANH, layout=("any", "any")), FIRST, NEG, EXP)
    assert str(error) == (
        "node 'n3' (Exp) cannot be bound on platform 'acme': these memory orders do not go together: "
        "'n1' (Relu): ReluLast gives 't1' channels last; 'n2' (Neg): NegAny gives 't2' in the order of 't1'; "
        f"'n3' (Exp): ExpRows takes 't2' row-major; no Relayout kernel takes f32; {ADD}, {FIX}"
    )
    assert error.where.node == "n3"


def test_the_page_shows_the_sentence() -> None:
    model = chain("Relu", "Neg", "Exp")
    named = [replace(node, name=node.op.lower()) for node in model.nodes]
    quoted = re.findall(r"^> (.*)", (ROOT / "docs" / "new_platform.md").read_text(), re.MULTILINE)
    assert str(refused(replace(model, nodes=tuple(named)), FIRST, NEG, EXP)) == " ".join(quoted)


def test_the_sentence_names_every_kernel_of_a_node() -> None:
    more = replace(FIRST, name="ReluFast")
    follows = kernel("ReluLike", "Relu", ("channels_last", "same"))
    assert str(refused(chain("Relu", "Exp"), FIRST, more, follows, EXP)) == (
        "node 'n1' (Exp) cannot be bound on platform 'acme': these memory orders do not go together: "
        "input 'x' is row-major; 'n0' (Relu): ReluLast or ReluFast takes 'x' row-major and gives 't0' channels last, "
        "ReluLike takes 'x' channels last and gives 't0' channels last; "
        f"'n1' (Exp): ExpRows takes 't0' row-major; no Relayout kernel takes f32; {ADD}, {FIX}"
    )


def test_the_sentence_names_outputs_and_views() -> None:
    error = refused(chain("Relu", ("Reshape", (6, 4))), FIRST)
    assert str(error) == (
        "output 't1' cannot be bound on platform 'acme': these memory orders do not go together: "
        "'n0' (Relu): ReluLast gives 't0' channels last; 'n1' (Reshape) shows 't0' as it lies; "
        f"output 't1' is row-major; no Relayout kernel takes f32; {ADD}, {FIX}"
    )
    assert error.where.tensor == "t1"
    strides = replace(EXP, layout=("axes", "default"))
    assert "ExpRows takes 't1' with one stride along each axis" in str(
        refused(chain("Relu", ("Reshape", (1, 6, 4)), "Exp"), FIRST, strides)
    )


def test_the_sentence_says_that_operands_are_to_lie_alike() -> None:
    tensors = {name: Tensor(name, DType.F32, SHAPE) for name in ("x", "a", "b", "y")}
    nodes = (
        Node("n0", "Relu", ("x",), ("a",)),
        Node("n1", "Exp", ("x",), ("b",)),
        Node("n2", "Add", ("b", "a"), ("y",)),
    )
    model = Model("alike", nodes, tensors, {}, ("x",), ("y",), 21)
    add = kernel("AddAlike", "Add", ("same", "default"))
    assert str(refused(model, FIRST, EXP, add)) == (
        "node 'n2' (Add) cannot be bound on platform 'acme': these memory orders do not go together: "
        "'n0' (Relu): ReluLast gives 'a' channels last; 'n1' (Exp): ExpRows gives 'b' row-major; "
        f"'n2' (Add): AddAlike takes 'b' and 'a' in one order; no Relayout kernel takes f32; {ADD}, {FIX}"
    )


def test_a_relayout_that_refuses_says_why() -> None:
    picky = kernel("Move", "Relayout", ("any", "any"), refused_rank=4)
    text = str(refused(chain("Relu", "Exp"), FIRST, EXP, picky))
    assert "; Move does not copy 't0': rank 4; " in text


def test_a_long_conflict_shows_its_ends() -> None:
    text = str(refused(chain("Relu", *["Neg"] * 9, "Exp"), FIRST, NEG, EXP))
    assert "'n2' (Neg): NegAny gives 't2' in the order of 't1'; 5 more in between; 'n8' (Neg)" in text


@pytest.mark.parametrize(
    ("outputs", "text"),
    [
        (("x", "t1"), "output 'x' cannot be bound on platform 'acme': it is an input, so it must be copied"),
        (
            ("t0",),
            "output 't0' cannot be bound on platform 'acme': it shows the bytes of input 'x', so it must be copied",
        ),
        (
            ("c", "t1"),
            "output 'c' cannot be bound on platform 'acme': it is a constant of the network, so it must be copied",
        ),
        (
            ("t1", "t2"),
            "outputs 't1' and 't2' cannot be bound on platform 'acme': they lie in the same bytes, so one of them "
            "must be copied",
        ),
    ],
)
def test_outputs_without_bytes_of_their_own_need_a_copy(outputs: tuple[str, ...], text: str) -> None:
    model = chain(("Reshape", (24,)), "Exp", ("Reshape", (4, 6)), outputs=outputs)
    model = replace(
        model, tensors={**model.tensors, "c": Tensor("c", DType.F32, (2,))}, constants={"c": np.zeros(2, np.float32)}
    )
    error = refused(model, EXP)
    assert str(error) == f"{text}; no Relayout kernel takes f32; {ADD}"
    assert error.where.tensor == outputs[0]
    graph = bind(model, PLATFORM, (EXP, MOVE))
    assert [node.call.node.op for node in graph.nodes].count("Relayout") == 1
    assert graph.output_names == outputs


def counted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Every rule that the search tries from now on."""
    tried: list[int] = []
    take = _Search._take

    def counting(search: _Search, at: int) -> Conflict | None:
        tried.append(at)
        return take(search, at)

    monkeypatch.setattr(_Search, "_take", counting)
    return tried


def test_a_conflict_at_the_end_of_a_chain_of_choices_costs_its_length(monkeypatch: pytest.MonkeyPatch) -> None:
    ways = [
        replace(NEG, name=f"Neg{takes}", layout=(takes, gives))
        for takes in ("any", "axes")
        for gives in ("same", "like")
    ]
    tried = counted(monkeypatch)
    assert bound(chain("Relu", *["Neg"] * 60, "Exp"), FIRST, SECOND, *ways, EXP)[0] == "ReluRows"
    assert len(tried) < 62 * 8


def test_choices_in_two_ways_that_end_row_major(monkeypatch: pytest.MonkeyPatch) -> None:
    last, rows = (replace(FIRST, layout=("any", gives)) for gives in ("channels_last", "default"))
    tried = counted(monkeypatch)
    graph = bind(chain(*["Relu"] * 60, "Exp"), PLATFORM, (last, replace(rows, name="ReluRows"), EXP))
    assert [n.kernel.name for n in graph.nodes if n.kernel] == [*["ReluLast"] * 59, "ReluRows", "ExpRows"]
    assert len(tried) < 70


def test_nothing_is_tried_twice_where_everything_can_be_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    tried = counted(monkeypatch)
    bind(chain("Relu", "Tanh", "Exp", "Neg", outputs=("t0", "t3")), PLATFORM, (FIRST, SECOND, TANH, EXP, NEG, MOVE))
    assert tried == sorted(set(tried))


def test_names_of_copies_are_new() -> None:
    model = chain("Relu", "Exp")
    taken = replace(model, nodes=(model.nodes[0], replace(model.nodes[1], name="t0_relayout_copy")))
    names = [node.call.node.name for node in bind(taken, PLATFORM, (FIRST, EXP, MOVE)).nodes]
    assert names == ["n0", "t0_relayout_copy_1", "t0_relayout_copy"]
