"""What an operator is: its shape rule, its index maps and its meaning in NumPy. It knows nothing of C.

One operator family is one file in this folder; each ends with `OPERATORS = (Operator(...), ...)`, and the registry in
`ops/registry.py` finds it by the folder. A `Call` is one use of an operator: the operator, the node, the types of its
operands and the values of those that are constants. Calls are made with `call_of` of the registry.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property, wraps
from typing import TYPE_CHECKING, Any, TypeVar, cast

from tilewright.errors import ModelError, TilewrightError, UnsupportedNode, UsageError
from tilewright.model import Array, Attribute, DType, Node, Shape, Tensor
from tilewright.ops.codes import Codes, Moves, Passes
from tilewright.ops.facts import DescentWindow, Lengths, Limits, Margin, Range, Reads
from tilewright.ops.gradient import AdjointOf
from tilewright.ops.torch import Torch
from tilewright.ops.window import Window

if TYPE_CHECKING:
    from tilewright.ops.index.nest import Nest

T = TypeVar("T")


@dataclass(frozen=True)
class TensorType:
    """Element type and shape, what a shape rule returns for each output."""

    dtype: DType
    shape: Shape


@dataclass(frozen=True)
class Call:
    """One use of an operator. `inputs[i]` is None for an omitted operand; `constants` maps operand index to value.

    `operator` is None where the registry has none of the node's name, as for a platform's own operators and for what
    stands for an output. Where several nodes are computed as one, `chain` holds their calls in order, and the node
    names them all.
    """

    node: Node
    inputs: tuple[Tensor | None, ...]
    outputs: tuple[Tensor, ...]
    constants: Mapping[int, Array] = field(default_factory=dict)
    opset: int = 21
    chain: tuple[Call, ...] = ()
    operator: Operator | None = field(kw_only=True, compare=False, repr=False)

    @property
    def present(self) -> tuple[int, ...]:
        """The places of the node's outputs that are not omitted; binding's `outputs` hold only those."""
        return tuple(index for index, name in enumerate(self.node.outputs) if name)

    @cached_property
    def nests(self) -> tuple[Nest, ...]:
        """The operator's chain of index maps for this call, made once; empty where it declares none."""
        if self.chain:
            return tuple(nest for call in self.chain for nest in call.nests)
        return () if self.operator is None or self.operator.nests is None else self.operator.nests(self)

    @cached_property
    def codes(self) -> Codes | None:
        """What the operator does on integer codes in the form that the node has; None where nothing is known."""
        return None if self.operator is None else self.operator.codes_of(self.node)

    @cached_property
    def known(self) -> dict[object, Any]:
        """What was derived from this call alone, by whoever derived it; kept for as long as the call is."""
        return {}

    def tensor(self, index: int) -> Tensor:
        """The operand `index`, which must be there."""
        if index < len(self.inputs) and (operand := self.inputs[index]) is not None:
            return operand
        raise self.invalid(f"operand {index} is missing")

    def optional(self, index: int) -> Tensor | None:
        """The operand `index`, or None where it is omitted."""
        return self.inputs[index] if index < len(self.inputs) else None

    def shape(self, index: int = 0) -> Shape:
        """Shape of the operand `index`."""
        return self.tensor(index).shape

    def constant(self, index: int, what: str) -> Array:
        """The value of an operand that must be known at compile time, e.g. the shape of a Reshape."""
        if index in self.constants:
            return self.constants[index]
        raise UnsupportedNode(
            f"node '{self.node.name}' ({self.node.op}): {what} is not known at compile time",
            why=f"input '{self.tensor(index).name}' is computed at run time",
            fix="give it as an initialiser, or freeze it with --freeze",
            node=self.node.name,
            tensor=self.tensor(index).name,
        )

    def _attribute(self, name: str, kind: type | tuple[type, ...], default: T | None) -> T:
        value = self.node.attributes.get(name, default)
        if value is None:
            raise self.invalid(f"attribute '{name}' is missing")
        if not isinstance(value, kind) or (isinstance(value, bool)):
            raise self.invalid(f"attribute '{name}' has the wrong type {type(value).__name__}")
        return cast(T, value)

    def integer(self, name: str, default: int | None = None) -> int:
        """An integer attribute."""
        return self._attribute(name, int, default)

    def real(self, name: str, default: float | None = None) -> float:
        """A float attribute."""
        return float(self._attribute(name, (int, float), default))

    def text(self, name: str, default: str | None = None) -> str:
        """A string attribute."""
        return self._attribute(name, str, default)

    def integers(self, name: str, default: tuple[int, ...] | None = None) -> tuple[int, ...]:
        """An attribute that is a list of integers."""
        value: tuple[int, ...] = self._attribute(name, tuple, default)
        if not all(isinstance(v, int) for v in value):
            raise self.invalid(f"attribute '{name}' must be a list of integers")
        return value

    def invalid(self, why: str) -> ModelError:
        """The error for a node whose attributes or operands contradict the standard."""
        return ModelError(
            f"node '{self.node.name}' ({self.node.op}) is invalid",
            why=why,
            fix="check how the model was exported",
            node=self.node.name,
        )

    def outside(self, operand: int, why: str) -> TilewrightError:
        """The error for values that the node may not read: in the file they are its fault, else the inputs'."""
        if operand in self.constants:
            return self.invalid(why)
        return UsageError(
            f"the inputs do not suit node '{self.node.name}' ({self.node.op})",
            why=f"{why}, in '{self.tensor(operand).name}'",
            fix="pass values inside it with --inputs",
            node=self.node.name,
            tensor=self.tensor(operand).name,
        )

    def unsupported(self, why: str, fix: str = "") -> UnsupportedNode:
        """The error for a node that is valid but that we do not compute."""
        return UnsupportedNode(f"node '{self.node.name}' ({self.node.op})", why=why, fix=fix, node=self.node.name)


def unmapped(call: Call) -> tuple[str, str]:
    """What about a call without index maps is not computed, and what to do about it."""
    empty = [tensor for tensor in (*call.inputs, *call.outputs) if tensor is not None and not tensor.elements]
    if empty:
        return f"'{empty[0].name}' of shape {list(empty[0].shape)} has no elements", "leave the node out of the model"
    gap = call.operator.gap(call) if call.operator is not None and call.operator.gap is not None else None
    return gap or ("this form of the operator is not computed", "export the model with another form of it")


def remembered(function: Callable[[Call], T]) -> Callable[[Call], T]:
    """A function of a call alone, computed once for each call."""

    @wraps(function)
    def once(call: Call) -> T:
        if function not in call.known:
            call.known[function] = function(call)
        return cast(T, call.known[function])

    return once


class Kind(Enum):
    """How an operator relates to memory and tiles."""

    COMPUTE = "compute"
    VIEW = "view"  # same elements in the same logical flat order, or a Transpose: no byte moves
    OPAQUE = "opaque"  # whole operands, never tiled
    SEQUENTIAL = "sequential"  # a loop that must run in order


ShapeRule = Callable[[Call], tuple[TensorType, ...]]
Evaluate = Callable[[Call, Sequence[Array | None]], tuple[Array, ...]]
Nests = Callable[[Call], "tuple[Nest, ...]"]
Gap = Callable[[Call], "tuple[str, str] | None"]
Adjoint = AdjointOf[Call]
Rule = Callable[[Adjoint, int], str]
"""The gradient of operand `index`, of that operand's type and shape; "" where none flows there."""


@dataclass(frozen=True)
class Operator:
    """One ONNX operator.

    `infer` gives type and shape of every output from operands and attributes (the outputs in the `Call` are not yet
    filled). `evaluate` is the meaning: logical arrays in, logical arrays out, on float tensors in the tensor's type,
    on quantised tensors exact integers. `nests` is the chain of index maps; operand tensors of the nests carry the
    names in `operands` and `results` (a last name `x...` stands for x0, x1, ...), every other name is an intermediate
    of the chain; the node's clamp is no part of it and limits the results. None for opaque operators, an empty chain
    for a call that has no index map. `footprints` stands in its place where no expression says what is made of the
    elements: it says which are read, all that the tiler asks. `gap` says of a call without index maps what about it is
    not computed, and what to do. `codes` is what the operator does on integer codes, or a function of the node where
    its attributes decide.
    `window` is how windows lie over the operand, for operators whose result has rows of windows; `passes` says which
    values stand in the results as they are, where `codes` does not say it. `clamps`
    says that a limit behind it can be part of it, `overwrites` that the order of nodes may count on its result standing
    where an operand of the same shape stood, `batchable` that its elements are cheap and each needs one of every
    operand: a backend may compute them in one sweep with those of its neighbours. `torch` is what it is in PyTorch,
    `sketch` the family of random calls that conformance draws it from, "" for none.

    Of a call whose result has the type of operand 0, `keeps` says whether it is operand 0. `copies` are the boxes that
    a call copies as they are, one for every operand or result. `reads(call, i)` says what the values of operand i
    stand for, where they are read as indices, lengths or divisors. `limit` is the clamp that a call is, `margin` the
    attributes with which it pads operand 0 itself, None where its own padding means something else. `folds` is False
    for what marks quantised constants, `reads_values` for what looks at types alone; `work` counts the steps of
    an evaluation beyond one for each element, and `required_results` the first outputs that cannot be omitted.
    `products` counts the multiply-accumulates of an operator that has no index maps. `lengths` says of a call what data
    decides of the shape of its results, None where that is known. The node then gets the attribute `bound`, the extent
    of these axes, and its last result is a count: how many elements there are no padding. `error` says how far its
    results may lie from those of the standard operators that it was made of, for these operands.
    `gradient` is the rule by which the gradient of a loss passes the operator; None where it has none of its own,
    `descent` the window with which a `Descent` takes a call back from weights that are operand 1, None where it cannot.
    `replaces` are pairs of a node's operand and result that the order of nodes may count on standing in one place.
    `channelwise` says that each channel of its result, counted by axis 1, follows from the same channel of operand 0
    and what is constant; `rising` that its result never falls where elements of operand 0 rise.
    """

    name: str
    infer: ShapeRule
    evaluate: Evaluate
    operands: tuple[str, ...]
    results: tuple[str, ...] = ("y",)
    nests: Nests | None = None
    footprints: Nests | None = None
    kind: Kind = Kind.COMPUTE
    domain: str = ""
    gap: Gap | None = None
    window: Callable[[Call], Window] | None = None
    codes: Codes | Callable[[Node], Codes | None] | None = None
    passes: Passes | None = None
    clamps: bool = False
    overwrites: bool = False
    batchable: bool = False
    torch: Torch | None = None
    sketch: str = ""
    keeps: Callable[[Call], bool] | None = None
    copies: Callable[[Call], tuple[Range, ...]] | None = None
    reads: Callable[[Call, int], Reads | None] | None = None
    limit: Callable[[Call], Limits | None] | None = None
    margin: Callable[[Call, Margin], Mapping[str, Attribute] | None] | None = None
    folds: bool = True
    reads_values: bool = True
    work: Callable[[Call], int] | None = None
    required_results: int | None = None
    products: Callable[[Call], int] | None = None
    lengths: Callable[[Call], Lengths | None] | None = None
    gradient: Rule | None = None
    error: Callable[[Call, Sequence[Array | None]], float] | None = None
    descent: Callable[[Call], DescentWindow | None] | None = None
    replaces: Callable[[Node], tuple[tuple[int, int], ...]] | None = None
    channelwise: bool = False
    rising: bool = False

    def operand(self, index: int) -> str:
        """The name that nests give to operand `index`."""
        return _indexed(self.operands, index)

    def codes_of(self, node: Node) -> Codes | None:
        """What the operator does on integer codes in the form that the node has; None where nothing is known."""
        return self.codes(node) if callable(self.codes) else self.codes

    def passes_of(self, node: Node) -> Passes | None:
        """Which operands' values stand in the results as they are; None where nothing is known."""
        codes = self.codes_of(node)
        if self.passes is not None or not isinstance(codes, Moves):
            return self.passes
        return Passes(codes.data, codes.whole)

    def result(self, index: int) -> str:
        """The name that nests give to result `index`."""
        return _indexed(self.results, index)


def always(call: Call) -> bool:
    """For `keeps`: of one type means the same values."""
    return True


def of_one(call: Call) -> bool:
    """For `keeps`: one operand alone is the result."""
    return len(call.inputs) == 1


def _indexed(names: tuple[str, ...], index: int) -> str:
    last, number = names[-1], index - len(names) + 1
    return f"{last.removesuffix('...')}{number}" if last.endswith("...") and number >= 0 else names[index]
