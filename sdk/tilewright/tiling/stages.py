"""From a bound node to the stage of a schedule: which loops may be cut, and how every operand is addressed.

Index maps do not depend on element types, so those of a quantised call are asked of the same call on real tensors. An
operator that is a chain of nests (softmax, a norm) is cut only along loops that every nest carries straight through.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

import numpy as np

from tilewright.errors import ModelError, PlatformError, UnsupportedNode
from tilewright.layout import Layout
from tilewright.model import DType, Tensor
from tilewright.ops.index.affine import Affine
from tilewright.ops.index.nest import Access, Nest, Space
from tilewright.ops.index.nest import Tensor as IndexTensor
from tilewright.ops.operator import Call, Operator
from tilewright.platform import Constant, Kernel, Operands, Rule
from tilewright.tiling.schedule import Operand, OperandKind, Stage


@dataclass(frozen=True)
class Boxed:
    """How tiles of one operand or result are boxes: `accesses` by the operator's loops, `axes` in memory order."""

    name: str
    kind: OperandKind
    index: int
    tensor: Tensor
    accesses: tuple[Access, ...]
    axes: tuple[int, ...]


@dataclass(frozen=True)
class Addressing:
    """The loops of a call, those that may be cut, and its operands and results; `digits` as in `Work`."""

    extents: Mapping[str, int]
    cuttable: frozenset[str]
    operands: tuple[Boxed, ...]
    digits: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Work:
    """A node that is to be cut: its stage without homes and buffers, and what limits its tiles.

    `cuttable` are the loops that may be cut, `digits` pairs (inner, outer) of which the inner stays whole or the outer
    is cut to single steps, `single` the loop that moves each axis of the result alone, by axis.
    """

    stage: Stage
    call: Call
    kernel: Kernel
    operands: Operands
    cuttable: tuple[str, ...]
    digits: tuple[tuple[str, str], ...]
    rules: tuple[Rule, ...]

    @property
    def name(self) -> str:
        """The node's name."""
        return self.stage.node


def addressing(call: Call, layouts: Mapping[str, Layout]) -> Addressing:
    """How the call's operands are cut; one that cannot be cut in boxes is all of it, flat, in every tile."""
    if call.node.op == "Relayout" and not call.constants:
        return _reordered(call, Operands(call, layouts))
    operands = Operands(call, layouts)
    nests = nests_of(call)
    extents, cuttable, accesses = _merged(call, nests) if nests else ({}, set(), {})
    boxed: list[Boxed] = []
    for kind, index, tensor in _tensors(call):
        name = _operator(call).operand(index) if kind == "input" else _operator(call).result(call.present[index])
        own = accesses.get(name, ())
        axes = _axes(operands.layout(tensor), tensor)
        if not own or axes is None or tensor.dtype.bits < 8 or own[0].tensor.shape != tensor.shape:
            cuttable -= {loop for access in own for loop in access.loops}
            access, loop = _whole(name, tensor)
            extents |= loop
            own, axes = (access,), (0,)
        cuttable -= _crossing(own)
        boxed.append(Boxed(name, kind, index, tensor, own, axes))
    single = nests if len(nests) == 1 or (nests and _beside(nests)) else ()
    digits = dict.fromkeys(pair for nest in single for pair in nest.digits)
    return Addressing(extents, frozenset(cuttable), tuple(boxed), tuple(digits))


def relayout_nest(operands: Operands) -> tuple[Nest, tuple[int, ...], tuple[int, ...]]:
    """A copy over the digits that both memory orders share, and those orders, outermost digit first."""
    call = operands.call
    x, y = call.tensor(0), call.outputs[0]
    source, target = operands.layout(x), operands.layout(y)
    before, after = source.refine(target.digits), target.refine(source.digits)
    assert before is not None, call.node.name
    assert after is not None, call.node.name
    digits = before[0]
    space = Space.of(**{f"i{place}": extent for place, extent in enumerate(digits)})
    loops = tuple(space)
    nest = Nest(space, IndexTensor("y", digits, y.dtype)[loops], (IndexTensor("x", digits, x.dtype)[loops],))
    return nest, before[1], after[1]


def _reordered(call: Call, operands: Operands) -> Addressing:
    nest, before, after = relayout_nest(operands)
    x, y = call.tensor(0), call.outputs[0]
    boxed = (
        Boxed("x", "input", 0, x, nest.ins, before),
        Boxed("y", "output", 0, y, (nest.out,), after),
    )
    return Addressing(nest.space.extents, nest.parallel if x.dtype.bits >= 8 else frozenset(), boxed, ())


def work_of(call: Call, kernel: Kernel, layouts: Mapping[str, Layout], constants: Sequence[Constant]) -> Work:
    """What may be cut of a bound node; PlatformError where a rule or a constant names a loop that is not there."""
    addressed = addressing(call, layouts)
    extents, cuttable = dict(addressed.extents), set(addressed.cuttable)
    operands = [
        Operand(f"0.{b.kind[0]}.{b.name}", b.name, b.kind, b.index, b.tensor.name, b.accesses, b.tensor.dtype.bits,
                b.axes)
        for b in addressed.operands
    ]  # fmt: skip
    for index, constant in enumerate(constants):
        if constant.level or constant.name in kernel.methods.at_rest:
            continue  # an engine reads it where it rests, or the cores do
        access, loop = _constant(call, kernel, constant, extents)
        extents |= loop
        operands.append(
            Operand(f"0.c.{constant.name}", constant.name, "constant", index, constant.name, (access,),
                    constant.dtype.bits, tuple(range(len(access.subscripts))))
        )  # fmt: skip
    rules = tuple(kernel.rules(call))
    for rule in rules:
        if rule.loop not in extents:
            raise PlatformError(
                f"kernel '{kernel.name}' has a rule on loop '{rule.loop}'",
                why=f"{call.node.op} has the loops {', '.join(n for n in extents if '.' not in n) or 'none'}",
                fix="correct the name in rules()", node=call.node.name,
            )  # fmt: skip
    added = frozenset(rule.loop for rule in rules if rule.kind == "adds")
    results = [operand for operand in operands if operand.kind == "output"]
    cuttable = {n for n in cuttable | added if n in added or all(n in operand.loops for operand in results)}
    cuttable -= {rule.loop for rule in rules if rule.kind == "whole"}
    stage = Stage(call.node.name, extents, tuple(operands), adds=added)
    loops = tuple(n for n in extents if n in cuttable)
    return Work(stage, call, kernel, Operands(call, layouts), loops, addressed.digits, rules)


def nests_of(call: Call) -> tuple[Nest, ...]:
    """The operator's index maps for this call, or its footprints; empty where it has none."""
    operator = _operator(call)
    if operator.footprints is not None and not (operator.nests is not None and operator.nests(call)):
        return operator.footprints(call)
    if operator.nests is None:
        return (_element_by_element(call),) if operator.batchable else ()
    for form in (call, _real(call)):
        try:
            return operator.nests(form)
        except (ModelError, UnsupportedNode):
            continue
    return ()


def _element_by_element(call: Call) -> Nest:
    """The index map of an operator that goes element by element and has no expression, such as a table: which elements
    it reads, not what it makes of them.
    """
    x, y = call.tensor(0), call.outputs[0]
    space = Space.of(**{f"i{axis}": extent for axis, extent in enumerate(x.shape)})
    return Nest(
        space, IndexTensor("y", y.shape, y.dtype)[tuple(space)], (IndexTensor("x", x.shape, x.dtype)[tuple(space)],)
    )


def _operator(call: Call) -> Operator:
    assert call.operator is not None, call.node.op
    return call.operator


def _real(call: Call) -> Call:
    """The same call on real tensors."""

    def one(tensor: Tensor | None) -> Tensor | None:
        codes = tensor is not None and (tensor.quantisation is not None or tensor.dtype is DType.I32)
        return replace(tensor, dtype=DType.F32, quantisation=None) if tensor is not None and codes else tensor

    outputs = tuple(t for t in map(one, call.outputs) if t is not None)
    return replace(call, inputs=tuple(map(one, call.inputs)), outputs=outputs)


def _tensors(call: Call) -> list[tuple[OperandKind, int, Tensor]]:
    """Run-time operands and results, in order; one that is read twice stands once per place."""
    tensors: list[tuple[OperandKind, int, Tensor]] = [
        ("input", i, t) for i, t in enumerate(call.inputs) if t is not None and i not in call.constants
    ]
    return tensors + [("output", i, t) for i, t in enumerate(call.outputs)]


def _axes(layout: Layout, tensor: Tensor) -> tuple[int, ...] | None:
    """Logical axes in memory order; None where the layout is no permutation of them."""
    strides = layout.axis_strides(tensor.shape)
    if strides is None:
        return None
    order = sorted(range(len(strides)), key=lambda axis: (tensor.shape[axis] > 1, -strides[axis]))
    expected = 1
    for axis in reversed(order):
        if tensor.shape[axis] > 1:
            if strides[axis] != expected:
                return None
            expected *= tensor.shape[axis]
    return tuple(order)


def _whole(name: str, tensor: Tensor) -> tuple[Access, dict[str, int]]:
    """The access to all of a tensor, flat."""
    loop = f"{name}.part"
    return IndexTensor(name, (tensor.elements,), tensor.dtype)[Affine.loop(loop)], {loop: tensor.elements}


def _crossing(accesses: Sequence[Access]) -> set[str]:
    """Loops that move more than one axis of an operand: their tiles are no boxes of independent axes."""
    loops = set()
    for access in accesses:
        places: dict[str, int] = {}
        for axis, sub in enumerate(access.subscripts):
            loops |= {loop for loop in sub.loops if places.setdefault(loop, axis) != axis}
    return loops


def _constant(
    call: Call, kernel: Kernel, constant: Constant, extents: Mapping[str, int]
) -> tuple[Access, dict[str, int]]:
    """The access to a kernel's constant: one axis per loop that it is cut along, then the part of one step."""
    for loop in constant.along:
        if loop not in extents:
            raise PlatformError(
                f"constant '{constant.name}' of kernel '{kernel.name}' is cut along '{loop}'",
                why=f"{call.node.op} has the loops {', '.join(n for n in extents if '.' not in n) or 'none'}",
                fix="correct the name in constants()", node=call.node.name,
            )  # fmt: skip
    elements = int(np.asarray(constant.values).size)
    steps = prod(extents[loop] for loop in constant.along)
    if elements % steps:
        raise PlatformError(
            f"constant '{constant.name}' of kernel '{kernel.name}' has {elements} elements",
            why=f"they do not divide into equal parts for the {steps} steps of {', '.join(constant.along)}",
            fix="cut it along other loops, or along none", node=call.node.name,
        )  # fmt: skip
    part = f"{constant.name}.part"
    shape = (*(extents[loop] for loop in constant.along), elements // steps)
    tensor = IndexTensor(constant.name, shape, constant.dtype)
    return tensor[(*map(Affine.loop, constant.along), Affine.loop(part))], {part: elements // steps}


# --------------------------------------------------------------------------------------- one nest out of a chain
Merged = tuple[dict[str, int], set[str], dict[str, tuple[Access, ...]]]


def _merged(call: Call, nests: tuple[Nest, ...]) -> Merged:
    """Loops, those that may be cut, and accesses by operand name."""
    if len(nests) > 1 and _beside(nests):
        parts = [_merged(call, (nest,)) for nest in nests]
        together: dict[str, tuple[Access, ...]] = {}
        for _, _, each in parts:
            together |= {name: tuple(dict.fromkeys((*together.get(name, ()), *own))) for name, own in each.items()}
        return parts[0][0], set.union(*(cuttable for _, cuttable, _ in parts)), together
    if len(nests) == 1:
        nest = nests[0]
        accesses: dict[str, tuple[Access, ...]] = {}
        for access in nest.operands:
            if access is not nest.out or nest.complete:  # else points alone do not cover the result: all of it
                accesses[access.tensor.name] = (*accesses.get(access.tensor.name, ()), access)
        return dict(nest.space.extents), set(nest.parallel) if nest.complete else set(), accesses
    names = _operand_names(call)
    straight = straight_loops(nests)
    by_name: dict[str, list[Access]] = {}
    for nest in nests:
        for access in nest.operands:
            by_name.setdefault(access.tensor.name, []).append(access)
    extents = {loop: nests[0].space.extents[loop] for loop in nests[0].space.extents if loop in straight}
    merged: dict[str, tuple[Access, ...]] = {}
    for name, same_name in by_name.items():
        if name not in names:
            continue
        tensor = same_name[0].tensor
        places = {_place(same_name[0], loop): loop for loop in straight}
        subscripts = []
        for axis, size in enumerate(tensor.shape):
            loop = places.get(axis, f"{name}.{axis}")
            extents.setdefault(loop, size)
            subscripts.append(Affine.loop(loop))
        merged[name] = (tensor[tuple(subscripts)],)
    for nest in nests:  # kernels speak of these loops too; none of them moves anything here
        for loop, extent in nest.space.extents.items():
            extents.setdefault(loop, extent)
    return extents, straight, merged


def _beside(nests: Sequence[Nest]) -> bool:
    """True for nests that are no chain: the same loops make their results side by side."""
    results = {nest.out.tensor.name for nest in nests}
    chained = any(access.tensor.name in results for nest in nests for access in nest.operands[1:])
    return not chained and len(results) == len(nests) and all(nest.space == nests[0].space for nest in nests)


def straight_loops(nests: Sequence[Nest]) -> set[str]:
    """Loops that every nest of a chain carries straight through, each tensor along one axis of its own."""
    straight = set.intersection(*(_straight(nest) for nest in nests))
    straight = {loop for loop in straight if len({nest.space.extents[loop] for nest in nests}) == 1}
    by_name: dict[str, list[Access]] = {}
    for nest in nests:
        for access in nest.operands:
            by_name.setdefault(access.tensor.name, []).append(access)
    for accesses in by_name.values():
        straight -= {loop for loop in straight if len({_place(access, loop) for access in accesses}) > 1}
    return straight


def _straight(nest: Nest) -> set[str]:
    """Loops that every access of the nest uses as one plain subscript, or not at all, and that write separate parts.

    They run over a whole axis of the result; whether the nest covers its other axes does not matter.
    """
    loops = {loop for loop in nest.parallel if _runs_over(nest, loop)}
    for loop in tuple(loops):
        for access in nest.operands:
            subs = [sub for sub in access.subscripts if loop in sub.loops]
            plain = len(subs) <= 1 and all(sub == Affine.loop(loop) for sub in subs)
            if not plain or (access is nest.out and not subs):
                loops.discard(loop)
    return loops


def _runs_over(nest: Nest, loop: str) -> bool:
    """True where the loop's steps are all places of one axis of the result."""
    place = _place(nest.out, loop)
    return place >= 0 and nest.out.tensor.shape[place] == nest.space.extents[loop]


def _place(access: Access, loop: str) -> int:
    """The axis that a loop moves, -1 for none."""
    return next((axis for axis, sub in enumerate(access.subscripts) if loop in sub.loops), -1)


def _operand_names(call: Call) -> set[str]:
    operator = _operator(call)
    inputs = {operator.operand(i) for i, tensor in enumerate(call.inputs) if tensor is not None}
    return inputs | {operator.result(place) for place in call.present}
