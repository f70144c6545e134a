"""The network whose tensors of floats are in fixed point, each with as many bits behind the point as its bound leaves.

Operators stay; those that move values give operands and results one step. Outputs become floats again behind the last
node. A network with a float that has no bound, or an operator that has no meaning in fixed point, is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import pairwise

import numpy as np

from tilewright.errors import UnsupportedError
from tilewright.frontend.prune import prune
from tilewright.model import Array, DType, Model, Node, State, Tensor
from tilewright.ops.fixed.meaning import FIXED, FixedMeaning, moved_operands, of_one_step
from tilewright.ops.fixed.tensors import bits_for, codes_of_reals, in_fixed
from tilewright.ops.operator import Call
from tilewright.ops.registry import call_of
from tilewright.passes.fixed_point.bounds import Bound, bound_of, of_array

_ADVICE = (
    "of a language model let --weights and --cache make codes, else compile without --integer-only and --real fixed"
)
_ROUNDS = 4
"""Walks until states are no larger than before a call."""


def in_fixed_point(model: Model) -> Model:
    """The network without floats but at its border; UnsupportedError names the first node that has to stay float."""
    return _Conversion(model).converted()


def _is_real(tensor: Tensor) -> bool:
    return tensor.dtype.is_float and tensor.quantisation is None


class _Conversion:
    def __init__(self, model: Model) -> None:
        self.model = model
        self.states = {state.past: state for state in model.states}
        self.real = {name for name, tensor in model.tensors.items() if _is_real(tensor)}
        self.bounds = self._bounds()
        self.bits = self._bits()

    def converted(self) -> Model:
        """Tensors, constants, nodes and the last conversions."""
        tensors = dict(self.model.tensors)
        constants = dict(self.model.constants)
        nodes = list[Node]()
        for name, bits in self.bits.items():
            if name not in constants:
                tensors[name] = in_fixed(tensors[name], bits)
        for call in self._calls():
            nodes.append(self._node(call, tensors, constants))
        nodes += self._outputs(tensors, constants, nodes)
        states = tuple(self._state(state) for state in self.model.states)
        made = self.model.replace(nodes=tuple(nodes), tensors=tensors, constants=constants, states=states)
        return prune(made)

    def _calls(self) -> Iterator[Call]:
        tensors, constants = self.model.tensors, self.model.constants
        for node in self.model.nodes:
            values = {i: constants[name] for i, name in enumerate(node.inputs) if name in constants}
            inputs = [tensors[name] if name else None for name in node.inputs]
            yield call_of(node, inputs, [tensors[name] for name in node.outputs if name], values, self.model.opset)

    def _bounds(self) -> Mapping[str, Bound]:
        """Of every real tensor, and of what codes of rows stand for."""
        bounds = {
            name: of_array(value) for name, value in self.model.constants.items() if name in self.real and value.size
        }
        for name in self.model.inputs:
            if name in self.real:
                if name not in self.states:
                    raise _unbounded(f"input '{name}' holds floats", name)
                initial = self.states[name].initial
                bounds[name] = Bound(0.0, 0.0) if initial is None else of_array(initial)
        for _ in range(_ROUNDS):
            for call in self._calls():
                self._bound(call, bounds)
            grown = [s for s in self.states.values() if s.past in self.real and _grows(bounds, s)]
            if not grown:
                return bounds
            for state in grown:
                bounds[state.past] = bounds[state.present]
        raise _unbounded(f"state '{grown[0].past}' may grow with every call", grown[0].past)

    def _bound(self, call: Call, bounds: dict[str, Bound]) -> None:
        node = call.node
        if not any(name in self.real for name in (*node.inputs, *node.outputs) if name not in self.model.constants):
            return
        if self._meaning(call) is None and moved_operands(call) is None:
            raise _refused(call, f"{node.op} has no meaning in fixed point")
        bound = bound_of(call, [bounds.get(name) for name in node.inputs])
        if bound is None or not np.isfinite(bound.most):
            raise _refused(call, "no bound on its result is known for all inputs")
        if any(name in self.real for name in node.outputs[1:]) and node.op != "RowCodes":
            raise _refused(call, "it has several results")
        bounds[node.outputs[0]] = bound
        if node.op == "RowCodes":
            bounds[node.outputs[1]] = Bound(bounds[node.inputs[0]].most, bounds[node.inputs[0]].most)

    def _meaning(self, call: Call) -> FixedMeaning | None:
        meaning = FIXED.get((call.node.domain, call.node.op))
        return None if meaning is None or (call.node.clamp is not None and not meaning.limited) else meaning

    def _bits(self) -> Mapping[str, int]:
        """Bits of fraction by tensor: what moves ties has as many as its largest member leaves."""
        group = {name: name for name in self.real}

        def top(name: str) -> str:
            while group[name] != name:
                name = group[name]
            return name

        for one, other in self._tied():
            group[top(one)] = top(other)
        least: dict[str, int] = {}
        for name in self.real & self.bounds.keys():
            least[top(name)] = min(least.get(top(name), 60), bits_for(self.bounds[name].most))
        return {name: least[top(name)] for name in self.model.tensors if name in self.real and top(name) in least}

    def _tied(self) -> Iterator[tuple[str, str]]:
        yield from ((s.past, s.present) for s in self.states.values() if s.past in self.real)
        for call in self._calls():
            for names in of_one_step(call):
                yield from pairwise(name for name in names if name in self.real)

    def _node(self, call: Call, tensors: dict[str, Tensor], constants: dict[str, Array]) -> Node:
        """The node with its constant reals in fixed point too."""
        meaning, inputs = self._meaning(call), list[str]()
        for place, name in enumerate(call.node.inputs):
            if name in constants and name in self.real and (meaning is None or place not in meaning.floats):
                bits = self.bits[name]
                fixed = f"{name}/fixed"
                constants[fixed] = codes_of_reals(constants[name], bits)
                tensors[fixed] = replace(in_fixed(tensors[name], bits), name=fixed)
                name = fixed
            inputs.append(name)
        return replace(call.node, inputs=tuple(inputs))

    def _outputs(self, tensors: dict[str, Tensor], constants: dict[str, Array], nodes: list[Node]) -> list[Node]:
        """Conversions of outputs that were floats; states stay codes."""
        states, last = {state.present for state in self.states.values()}, list[Node]()
        for name in self.model.outputs:
            if name not in self.bits or name in states:
                continue
            inner = f"{name}/fixed"
            tensors[inner] = replace(tensors[name], name=inner)
            tensors[name] = self.model.tensors[name]
            for at, node in enumerate(nodes):
                inputs, outputs = (
                    tuple(inner if one == name else one for one in side) for side in (node.inputs, node.outputs)
                )
                nodes[at] = replace(node, inputs=inputs, outputs=outputs)
            step = f"{name}/step"
            constants[step] = np.array(2.0 ** -self.bits[name], np.float32)
            tensors[step] = Tensor(step, DType.F32, ())
            last.append(Node(f"{name}/real", "DequantizeLinear", (inner, step), (name,)))
        return last

    def _state(self, state: State) -> State:
        if state.past not in self.bits or state.initial is None:
            return state
        return replace(state, initial=codes_of_reals(state.initial, self.bits[state.past]))


def _grows(bounds: Mapping[str, Bound], state: State) -> bool:
    return bounds[state.present].most > bounds[state.past].most


def _refused(call: Call, why: str) -> UnsupportedError:
    name = next(filter(None, call.node.outputs))
    return UnsupportedError(
        f"node '{call.node.name}' ({call.node.op}) stays float", why=why,
        fix=_ADVICE, node=call.node.name, tensor=name,
    )  # fmt: skip


def _unbounded(what: str, name: str) -> UnsupportedError:
    return UnsupportedError(
        f"{what} without a bound", why="fixed point needs the largest value of every tensor",
        fix=_ADVICE, tensor=name,
    )  # fmt: skip
