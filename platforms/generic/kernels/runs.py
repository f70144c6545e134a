"""Concat, Split, Slice and kin whose elements lie in runs: whole runs are copied, words where elements are words.

Which elements these are is read from the operator's index maps, in whatever order the axes lie in memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from tilewright.numerics import same_meaning
from tilewright.ops.index.nest import Nest
from tilewright.platform import Call, Constant, KernelMethods, Layout, Operands
from tilewright.platforms.generic.kernels.codes import MOVES, plain_call, read_constants
from tilewright.platforms.generic.kernels.nest import nests_of, operand_names, result_names, strides_of, unread
from tilewright.platforms.generic.kernels.nest_address import Address, Addresses, Strides, sum_text
from tilewright.platforms.generic.kernels.nest_loops import direct
from tilewright.platforms.generic.platform import PLATFORM

RUNS = "../../generic/kernels/runs.h"
WHOLE = tuple(name for name in MOVES if name not in ("Resize", "Upsample"))
"""Operators that move elements as they are; one that may interpolate rounds them even where it keeps the size."""
SHORTEST = 8
"""Bytes of a run from which on a call pays."""


@dataclass(frozen=True)
class RunCopy:
    """Loops around a run of `length` elements, or around one where runs are short; the tensors' names and the C of the
    element offsets in both."""

    comment: str
    loops: tuple[tuple[str, int], ...]
    to: str
    target: str
    source: str
    place: str
    length: int


@dataclass(frozen=True)
class RunContext:
    """What is copied, one after the other; `declarations` name parameters that are not read."""

    declarations: tuple[str, ...]
    copies: tuple[RunCopy, ...]


def run_copy(nest: Nest, strides: Strides, index: int) -> RunCopy | None:
    """The nest as a copy of runs; None where it computes or leaves points out."""
    plain = (nest.body.name, nest.combine.name, nest.finish.name) == ("copy", "set", "keep") and len(nest.ins) == 1
    if not plain or nest.reductions or nest.ins[0].margin or nest.ins[0].tensor.iota or nest.ins[0].tensor.values:
        return None
    out, source = nest.out.tensor, nest.ins[0].tensor
    if out.dtype is not source.dtype or out.dtype.bits < 8 or not direct(nest):
        return None
    addressed = Addresses(nest, strides, index, None)
    if any(addressed.guards(access) for access in nest.operands):
        return None
    target, place = addressed.address(nest.out), addressed.address(nest.ins[0])
    if target.looked_up or place.looked_up:
        return None
    loops = _merged(target, place, dict(nest.space.moving))
    bits = out.dtype.bits
    run = loops[-1].extent if loops and loops[-1].steps == (1, 1) else 1
    long = run > 1 and run * bits >= 8 * SHORTEST
    around = loops[:-1] if long else loops
    texts = [
        sum_text([_term(loop.name, loop.steps[side]) for loop in around if loop.steps[side]], address.const)
        for side, address in enumerate((target, place))
    ]
    return RunCopy(
        str(nest), tuple((loop.name, loop.extent) for loop in around), out.name, texts[0], source.name, texts[1],
        run if long else 1,
    )  # fmt: skip


@dataclass(frozen=True)
class _Loop:
    """A loop with the steps of its elements in result and operand."""

    name: str
    extent: int
    steps: tuple[int, int]


def _merged(target: Address, place: Address, extents: dict[str, int]) -> list[_Loop]:
    """Loops by the steps of the result, the outermost first; neighbours that both walk as one are one."""
    written, read = dict(target.terms), dict(place.terms)
    loops: list[_Loop] = []
    for name in sorted(extents, key=lambda name: -abs(written.get(name, 0))):
        loop = _Loop(name, extents[name], (written.get(name, 0), read.get(name, 0)))
        before = loops[-1] if loops else None
        if before is not None and before.steps == (loop.extent * loop.steps[0], loop.extent * loop.steps[1]):
            loops[-1] = _Loop(name, before.extent * loop.extent, loop.steps)
        else:
            loops.append(loop)
    return loops


def _term(name: str, step: int) -> str:
    return name if step == 1 else f"{name} * {step}"


def copies_of(call: Call, strides: Strides) -> tuple[RunCopy, ...] | None:
    """All nests of a call as copies of runs; None where one is none."""
    copies = [run_copy(nest, strides, index) for index, nest in enumerate(nests_of(plain_call(call)))]
    made = tuple(copy for copy in copies if copy is not None)
    return made if len(made) == len(copies) and made else None


def _channels_last(call: Call) -> Strides:
    """Steps of all tensors of the result's rank with the second axis innermost."""
    tensors = [
        *zip(operand_names(call), call.inputs, strict=False),
        *zip(result_names(call), call.outputs, strict=True),
    ]
    rank = len(call.outputs[0].shape)
    steps: dict[str, tuple[int, ...]] = {}
    for name, tensor in tensors:
        if tensor is not None and len(tensor.shape) == rank > 2:
            strides = Layout.channels_last(tensor.shape).axis_strides(tensor.shape)
            steps |= {} if strides is None else {name: strides}
    return steps


@PLATFORM.kernel(
    *WHOLE, types="*... -> *...", template="runs.c.mako", layout=("axes", "like"), sources=[RUNS], preference=-1
)
class CopyRuns(KernelMethods):
    """Moves runs of elements that lie side by side in operand and result."""

    def accepts(self, call: Call) -> str | None:
        """Elements as they are, in runs in the usual order of axes."""
        y = call.outputs[0]
        if call.node.clamp is not None:
            return "the result is limited, the kernel moves elements as they are"
        moved = [t for t in (*call.inputs, *call.outputs) if t is not None and t.dtype is y.dtype]
        for tensor in moved:
            if (tensor.quantisation is None) != (y.quantisation is None):
                return f"'{tensor.name}' has no codes, or the result has none"
            if tensor.quantisation is not None and not same_meaning(tensor, y):
                return f"'{tensor.name}' has another scale than the result"
        if prod(y.shape) == 0:
            return "the result has no elements"
        ways = (copies_of(call, strides) or () for strides in ({}, _channels_last(call)))
        if any(copy.length > 1 for way in ways for copy in way):
            return None
        return f"no {SHORTEST} bytes lie side by side in operand and result"

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Operands that are constant."""
        return read_constants(operands, nests_of(plain_call(operands.call)))

    def context(self, operands: Operands) -> RunContext:
        """The copies, as the operands lie."""
        call = operands.call
        copies = copies_of(call, strides_of(operands))
        assert copies is not None, "what is copied is the same in every order of axes"
        return RunContext(tuple(unread(operands, nests_of(plain_call(call)))), copies)
