"""Any operator that declares index maps, as plain loops printed from them."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from tilewright.numerics import C_TYPES, plus, rounds_twice
from tilewright.operators import AsIntegers, all_operators, unmapped
from tilewright.ops.index.loop_nest import LoopNest, declarations
from tilewright.ops.index.nest import Nest, Tensor
from tilewright.platform import Call, Clamp, Constant, KernelMethods, Operands
from tilewright.platforms.generic.kernels.nest_expressions import body_text
from tilewright.platforms.generic.kernels.nest_loops import COUNTED, Codes, direct, loop_nest
from tilewright.platforms.generic.platform import PLATFORM


@dataclass(frozen=True)
class Printed:
    """What a context was printed from: nests, the integer arithmetic in their place, tables, the last one's limits."""

    nests: tuple[Nest, ...]
    codes: tuple[Codes | None, ...]
    declarations: tuple[str, ...] = ()
    clamp: Clamp | None = None


@dataclass(frozen=True)
class NestContext:
    """Declarations and the loops of the nests. `sums`: every result is a sum in a local variable, stored behind it."""

    declarations: tuple[str, ...]
    nests: tuple[LoopNest, ...]
    printed: Printed | None = None
    sums: bool = False


def nests_of(call: Call) -> tuple[Nest, ...]:
    """The operator's chain of nests for this call."""
    return call.nests


def operand_names(call: Call) -> tuple[str, ...]:
    """The parameter name of every operand; a last name with dots stands for any number, numbered from 0."""
    assert call.operator is not None
    return _numbered(call.operator.operands, len(call.inputs))


def result_names(call: Call) -> tuple[str, ...]:
    """The parameter name of every result that is not omitted."""
    assert call.operator is not None
    names = _numbered(call.operator.results, len(call.node.outputs))
    return tuple(names[place] for place in call.present)


def _numbered(names: tuple[str, ...], count: int) -> tuple[str, ...]:
    if not names or not names[-1].endswith("..."):
        return names
    stem, fixed = names[-1][:-3], names[:-1]
    return fixed + tuple(f"{stem}{i}" for i in range(max(0, count - len(fixed))))


def _intermediates(call: Call, nests: tuple[Nest, ...]) -> tuple[tuple[str, str, int], ...]:
    """(name, C type, bytes) of every tensor of the chain that is neither operand nor result, and of the counts of
    points that the general form of a nest keeps in memory.
    """
    known = {*operand_names(call), *result_names(call)}
    intermediates: dict[str, tuple[str, str, int]] = {}
    for index, nest in enumerate(nests):
        tensor: Tensor = nest.out.tensor
        if tensor.name not in known:
            size = prod(tensor.shape) * (tensor.dtype.bits // 8)
            intermediates[tensor.name] = (tensor.name, C_TYPES[tensor.dtype], size)
        if nest.finish.name in COUNTED and 0 not in tensor.shape and not direct(nest):
            intermediates[f"count{index}"] = (f"count{index}", "int", 4 * prod(tensor.shape))
    return tuple(intermediates.values())


class NestLoops(KernelMethods):
    """Plain loops printed from the operator's index maps."""

    def accepts(self, call: Call) -> str | None:
        """Every body must have an expression in C for these types."""
        nests = nests_of(call)
        if not nests:
            return unmapped(call)[0]
        for nest in nests:
            kinds = [access.tensor.dtype for access in nest.ins]
            if body_text(nest.body.name, kinds, nest.out.tensor.dtype, nest.body.parameters) is None:
                return f"operands of type {kinds[0].value} are not computed"
            out = nest.out.tensor
            if out.dtype.bits == 4 and (nest.reductions or out.name not in result_names(call)):
                return f"'{out.name}' has four bits, the kernel only stores such elements once"
        coded = any(t is not None and t.quantisation is not None for t in (*call.inputs, *call.outputs))
        if coded and not isinstance(call.codes, AsIntegers):
            return "the tensors are quantised, the kernel computes plain values"
        return None

    def adds_in_order(self, call: Call) -> bool:
        """Means of windows: the taps are added from the first on, and divided once."""
        return not call.chain and call.node.op in ("AveragePool", "GlobalAveragePool")

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """The constant operands that the nests read, row-major."""
        call = operands.call
        read = {access.tensor.name for nest in nests_of(call) for access in (*nest.ins, *nest.after)}
        names = operand_names(call)
        return tuple(
            Constant(names[i], call.tensor(i).dtype, value.reshape(-1))
            for i, value in sorted(call.constants.items())
            if names[i] in read
        )

    def scratch(self, operands: Operands) -> int:
        """Bytes of the chain's intermediates."""
        return scratch_bytes(operands.call, nests_of(operands.call))

    def in_place(self, call: Call) -> tuple[tuple[int, int], ...]:
        """Operands that are read once for each result, at its own place, when all else of it is computed.

        Such is the addend of a product: what a step of training takes its weights from.
        """
        nests = nests_of(call)
        if len(nests) != 1 or not nests[0].after or not direct(nests[0]):
            return ()
        nest, names = nests[0], operand_names(call)
        read = [access.tensor.name for access in (*nest.ins, *nest.after)]
        return tuple(
            (names.index(access.tensor.name), 0)
            for access in nest.after
            if read.count(access.tensor.name) == 1
            and access.subscripts == nest.out.subscripts
            and (access.tensor.shape, access.tensor.dtype) == (nest.out.tensor.shape, nest.out.tensor.dtype)
        )

    def context(self, operands: Operands) -> NestContext:
        """The printed loops."""
        call = operands.call
        nests = nests_of(call)
        strides = strides_of(operands)
        last = len(nests) - 1
        loops = tuple(
            loop_nest(nest, strides, i, call.node.clamp if i == last else None) for i, nest in enumerate(nests)
        )
        lines = (*declarations(loops), *scratch_pointers(call, nests), *unread(operands, nests))
        printed = Printed(nests, (None,) * len(nests), (), call.node.clamp)
        sums = len(nests) == 1 and bool(nests[0].reductions) and direct(nests[0])
        return NestContext(lines, loops, printed, sums)


def scratch_bytes(call: Call, nests: tuple[Nest, ...]) -> int:
    """What the intermediates of a chain take."""
    return sum(-(-size // 16) * 16 for _, _, size in _intermediates(call, nests))


def scratch_pointers(call: Call, nests: tuple[Nest, ...]) -> list[str]:
    """The declarations of a chain's intermediates inside the scratch memory."""
    lines, offset = list[str](), 0
    for name, c_type, size in _intermediates(call, nests):
        at = plus("(unsigned char *)scratch", offset)
        lines.append(f"{c_type} *const {name} = ({c_type} *)(void *)({at});")
        offset += -(-size // 16) * 16
    return lines


def unread(operands: Operands, nests: tuple[Nest, ...]) -> list[str]:
    """Run-time operands that no nest reads, and results without elements, still are parameters."""
    call = operands.call
    read = {access.tensor.name for nest in nests for access in (*nest.ins, *nest.after)}
    names = operand_names(call)
    empty = [name for name, tensor in zip(result_names(call), call.outputs, strict=True) if not tensor.elements]
    return [f"(void){name};" for name in empty] + [
        f"(void){names[i]};"
        for i, tensor in enumerate(call.inputs)
        if tensor is not None and i not in call.constants and names[i] not in read
    ]


def strides_of(operands: Operands) -> dict[str, tuple[int, ...]]:
    """Element strides per axis of every operand and result, by parameter name."""
    call = operands.call
    steps = {}
    named = [
        *zip(operand_names(call), call.inputs, strict=False),
        *zip(result_names(call), call.outputs, strict=True),
    ]
    for name, tensor in named:
        if tensor is not None and tensor.name in operands.layouts:
            strides = operands.layout(tensor).axis_strides(tensor.shape)
            if strides is not None:
                steps[name] = strides
    return steps


def _reshaped(call: Call) -> str | None:
    """The sentence that names an operand which the nests see in another shape, or None."""
    shapes = {
        name: tensor.shape
        for names, tensors in ((operand_names(call), call.inputs), (result_names(call), call.outputs))
        for name, tensor in zip(names, tensors, strict=False)
        if tensor is not None
    }
    for nest in nests_of(call):
        for access in nest.operands:
            shape = shapes.get(access.tensor.name)
            if shape is not None and shape != access.tensor.shape:
                return f"the index maps see '{access.tensor.name}' as {list(access.tensor.shape)}, not as {list(shape)}"
    return None


ELEMENTWISE = (
    "Add", "Sub", "Mul", "Div", "Pow", "Mod", "Min", "Max", "Sum", "Mean", "And", "Or", "Xor", "Equal", "Greater",
   "Less",     "GreaterOrEqual", "LessOrEqual", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "BitShift", "Where", "PRelu",
    "Relu", "Sigmoid", "Tanh", "Exp", "Log", "Sqrt", "Reciprocal", "Neg", "Abs", "Floor", "Ceil", "Round", "Sign",
    "Erf", "Sin", "Cos", "Tan", "Asin", "Acos", "Atan", "Sinh", "Cosh", "Asinh", "Acosh", "Atanh", "Not", "IsNaN",
    "IsInf", "Softplus", "Softsign", "LeakyRelu", "Elu", "Selu", "Celu", "Gelu", "HardSigmoid", "HardSwish", "Mish",
    "Swish", "ThresholdedRelu", "Shrink", "Clip", "BitwiseNot", "Cast", "CastLike", "BatchNormalization",
    "QuantizeLinear", "DequantizeLinear",
)  # fmt: skip
OTHERS = tuple(dict.fromkeys(o.name for o in all_operators() if o.nests is not None and o.name not in ELEMENTWISE))


def same_size(call: Call) -> tuple[tuple[int, int], ...]:
    """Run-time operands of the result's shape and element size, whose memory the result may take."""
    y = call.outputs[0]
    return tuple(
        (i, 0)
        for i, x in enumerate(call.inputs)
        if x is not None and i not in call.constants and (x.shape, x.dtype.bits) == (y.shape, y.dtype.bits)
    )


@PLATFORM.kernel(
    *ELEMENTWISE, types="*... -> *...", template="nest.c.mako", layout=("axes", "same"), numerics="1e-5",
    sources=["power.h", "difference.h"], preference=-10,
)  # fmt: skip
class ElementwiseLoops(NestLoops):
    """Loops printed from the operator's index maps, element by element: a result may replace an operand."""

    def accepts(self, call: Call) -> str | None:
        """Codes are exact here."""
        return "its codes are rounded twice, the loops round once" if rounds_twice(call) else super().accepts(call)

    def in_place(self, call: Call) -> tuple[tuple[int, int], ...]:
        """Every operand of the result's shape and element size."""
        return same_size(call)


@PLATFORM.kernel(
    *OTHERS, types="*... -> *...", template="nest.c.mako", layout=("axes", "like"), numerics="1e-5",
    sources=["difference.h"], preference=-20,
)  # fmt: skip
class StridedLoops(NestLoops):
    """Loops printed from index maps over operands in any order of axes; the result takes the first one's order."""

    def accepts(self, call: Call) -> str | None:
        """The nests must see every operand in its own shape, so that each axis has a stride."""
        return super().accepts(call) or _reshaped(call)


PLATFORM.kernel(*OTHERS, types="*... -> *...", template="nest.c.mako", numerics="1e-5", preference=-30)(NestLoops)
