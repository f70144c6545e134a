"""Planted faults: the checker names each of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tilewright.errors import TilewrightError
from tilewright.frontend.check import check_model, faults
from tilewright.model import DType, Model, Node, Quantisation, Tensor


def sound() -> Model:
    tensors = [Tensor(name, DType.F32, (4,)) for name in ("x", "w", "a", "y")]
    return Model(
        "net",
        (Node("n1", "Add", ("x", "w"), ("a",)), Node("n2", "Clip", ("a", "", "w"), ("y",))),
        {tensor.name: tensor for tensor in tensors},
        {"w": np.ones(4, np.float32)},
        ("x",),
        ("y",),
        21,
    )


def with_tensor(model: Model, tensor: Tensor) -> Model:
    return replace(model, tensors={**model.tensors, tensor.name: tensor})


def nodes(*changed: Node) -> Model:
    return replace(sound(), nodes=changed)


N1, N2 = sound().nodes
X = Tensor("x", DType.I8, (4,), Quantisation((0.5,), (0,)))

FAULTS: list[tuple[Model, str]] = [
    (replace(sound(), name="a b"), "the model's name 'a b' is not a C identifier"),
    (nodes(N2, N1), "node 'n2' reads 'a' before anything writes it"),
    (nodes(N1, N2, replace(N1, name="n3")), "'a' is written again by node 'n3'"),
    (nodes(N1, replace(N2, outputs=("y", "y"))), "'y' is written again by node 'n2'"),
    (nodes(N1, replace(N2, outputs=("x",))), "'x' is written again by node 'n2'"),
    (nodes(N1, replace(N2, name="n1")), "node name 'n1' is empty or not unique"),
    (nodes(N1, replace(N2, name="")), "node name '' is empty or not unique"),
    (nodes(N1, replace(N2, outputs=("z",))), "node 'n2' writes 'z', which has no type"),
    (nodes(N1, replace(N2, outputs=("",))), "node 'n2' writes nothing"),
    (nodes(N1), "output 'y' is written by no node"),
    (replace(sound(), outputs=()), "there is no output"),
    (replace(sound(), outputs=("y", "y")), "an output is there twice"),
    (replace(sound(), inputs=("x", "q")), "'q' is an input or output without a type"),
    (replace(sound(), inputs=("x", "w")), "input 'w' is a constant"),
    (replace(sound(), constants={"w": np.ones(3, np.float32)}),
     "constant 'w' holds float32 of shape (3,), its tensor is f32 of shape (4,)"),
    (replace(sound(), constants={"w": np.ones(4)}),
     "constant 'w' holds float64 of shape (4,), its tensor is f32 of shape (4,)"),
    (replace(sound(), tensors={**sound().tensors, "b": sound().tensors["a"]}), "tensor 'a' is filed under 'b'"),
    (with_tensor(sound(), Tensor("x", DType.F32, (-1,))), "tensor 'x' has the shape (-1,)"),
    (with_tensor(sound(), replace(X, dtype=DType.F32)),
     "tensor 'x' has a quantisation that does not fit itself or its type"),
    (with_tensor(sound(), replace(X, quantisation=Quantisation((0.5, 1.0), (0, 0)))),
     "tensor 'x' has 2 scales and no axis"),
    (with_tensor(sound(), replace(X, quantisation=Quantisation((0.5, 1.0), (0, 0), 0))),
     "tensor 'x' of shape (4,) has 2 scales on axis 0"),
]  # fmt: skip


@pytest.mark.parametrize(("model", "fault"), FAULTS, ids=range(len(FAULTS)))
def test_each_planted_fault_is_found(model: Model, fault: str) -> None:
    assert fault in list(faults(model))
    with pytest.raises(TilewrightError) as caught:
        check_model(model, "the pass 'x'")
    assert caught.value.code == 1
    assert str(caught.value).startswith("the pass 'x' made an invalid model: ")


def test_a_sound_model_passes_unchanged() -> None:
    model = sound()
    assert check_model(model, "the frontend") is model
    assert list(faults(with_tensor(model, X))) == []
