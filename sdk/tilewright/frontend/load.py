"""From an ONNX file to a `Model`: read, check, import, fix shapes, expand, normalise, fold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from tilewright.errors import TilewrightError, UnsupportedError, UsageError
from tilewright.frontend.adopt import adopt
from tilewright.frontend.bounds import Built, with_bounds
from tilewright.frontend.check import check_model
from tilewright.frontend.declared import declared_names, declared_shapes, held_against
from tilewright.frontend.inputs import Inputs, settle
from tilewright.frontend.names import c_identifier, quoted
from tilewright.frontend.prune import prune
from tilewright.frontend.raw import Body, Value, domain_name, import_function, import_graph
from tilewright.frontend.read import Source, read
from tilewright.frontend.shapes import OPSET, Find, Graph
from tilewright.frontend.sparse import store_densely
from tilewright.frontend.states import named_pairs, with_states
from tilewright.frontend.stored import forget_types, retype_inputs, take_out
from tilewright.frontend.structure import check_structure, run_checker
from tilewright.frontend.text import check_text
from tilewright.frontend.turns import telling_ends
from tilewright.frontend.unlike import unlike_results
from tilewright.ieee import ieee
from tilewright.model import Array, Model, Node
from tilewright.ops.registry import find
from tilewright.options import StateWish

if TYPE_CHECKING:
    import onnx

NO_STATE = StateWish()
NAME_LENGTH = 32  # it begins every symbol of the generated code


@ieee
def load(
    source: Path | str | bytes | onnx.ModelProto,
    *,
    shapes: Mapping[str, tuple[int, ...]] | None = None,
    frozen: Mapping[str, Array] | None = None,
    name: str | None = None,
    find: Find = find,
    state: StateWish = NO_STATE,
    bounds: Mapping[str, int] | None = None,
) -> Model:
    """Read a model from a file, the bytes of one, or a message, with static shapes and nothing left to fold.

    `shapes` sets the shapes of inputs, `frozen` turns inputs into constants, `name` is the model's name in C, `state`
    says what lives from call to call. `bounds` are the most elements where data decides how many there are, by the name
    of a node, a tensor or a dimension.
    UsageError for a file that is not there or an input that is not, ModelError for a model that is damaged or
    contradicts the standard, UnsupportedError for one that we do not do. An error names the file where there is one.
    """
    read_source = read(source)
    try:
        model = _load(read_source, shapes or {}, frozen or {}, find, state, bounds or {})
    except TilewrightError as error:
        if not error.where.file:
            error.where = replace(error.where, file=read_source.file)
        raise
    model = replace(model, name=c_identifier(name or read_source.name, set(), NAME_LENGTH))
    return check_model(prune(model), "the frontend")


def _load(
    source: Source,
    shapes: Mapping[str, tuple[int, ...]],
    frozen: Mapping[str, Array],
    find: Find,
    state: StateWish,
    bounds: Mapping[str, int],
) -> Model:
    proto, file = source.proto, source.file
    check_text(proto, file)
    check_structure(proto, file)
    store_densely(proto, file)
    everything, pairs = take_out(proto), named_pairs(proto, state, file)
    first = {name: everything.unpack(name, file) for name in sorted(pairs.past) if name in everything}
    stored = everything.without(first)
    if both := pairs.past.intersection(frozen):
        raise UsageError(f"--freeze {min(both)}: it is a state", why="a state changes", tensor=min(both), file=file)
    true_inputs = [value for value in proto.graph.input if value.name not in stored]
    settled = settle(true_inputs, shapes, frozen, file)
    declared, dimensions = declared_shapes(proto), declared_names(proto)
    retype_inputs(proto, settled.tensors, stored)
    unclear = adopt(proto)
    run_checker(proto, file)
    forget_types(proto)
    body = import_graph(proto)
    if through := set(body.outputs).intersection(tensor.name for tensor in settled.tensors):
        why, fix = "it is an input too, nothing computes it", "remove this output from the model"
        raise UnsupportedError(f"output {quoted(min(through))} cannot be used", why=why, fix=fix, tensor=min(through))
    functions = {
        (domain_name(function.domain), function.name): import_function(function, body.opsets)
        for function in proto.functions
    }
    constants = {name: stored.unpack(name, file) for name in sorted(body.reads()) if name in stored}
    model = with_bounds(lambda known: _build(body, functions, settled, constants, find, known), bounds, dimensions)
    inputs = {tensor.name: tensor for tensor in settled.tensors}

    def bare() -> onnx.ModelProto:
        retype_inputs(proto, settled.tensors, stored)
        return proto

    notes = held_against(declared, model, inputs, bare, file)
    unlike = unlike_results(proto, file)
    model = replace(model, sha256=source.sha256, notes=(*model.notes, *unclear, *notes), unlike=unlike)
    return with_states(model, pairs, first, state, file) if pairs.named or state.auto or state.initial else model


def _build(
    body: Body,
    functions: Mapping[tuple[str, str], Body],
    settled: Inputs,
    constants: Mapping[str, Value],
    find: Find,
    bounds: Mapping[str, int],
) -> Built:
    graph = Graph({}, {}, functions, {*body.names(), *constants}, frozenset(body.outputs), find, bounds)
    for tensor in settled.tensors:
        graph.tensors[tensor.name] = tensor
        if tensor.name in settled.frozen:
            graph.add_constant(tensor.name, tensor.dtype, settled.frozen[tensor.name])
    for name, value in {**constants, **body.constants}.items():
        graph.add_constant(name, value.dtype, value.array)
    graph.walk(body.nodes)
    telling, ends = telling_ends(graph)
    graph.walk(telling)
    for name in body.outputs:
        if name in graph.tensors and not graph.tensors[name].elements:
            why, fix = (
                f"its shape {list(graph.tensors[name].shape)} has no elements",
                "remove this output from the model",
            )
            raise UnsupportedError(f"output {quoted(name)} cannot be used", why=why, fix=fix, tensor=name)
        if name in graph.constants:
            _compute(name, graph)
    inputs = tuple(tensor.name for tensor in settled.tensors if tensor.name not in settled.frozen)
    counts = dict.fromkeys(length.count for name in body.outputs for length in graph.tensors[name].lengths)
    ends = tuple(name for name in ends if name not in graph.constants)
    graph.tensors.update({name: replace(graph.tensors[name], tells_end=True) for name in ends})
    model = Model(
        "model",
        tuple(graph.nodes),
        graph.tensors,
        graph.constants,
        inputs,
        (*body.outputs, *(name for name in counts if name not in body.outputs), *ends),
        OPSET,
        notes=(*settled.notes, *graph.notes),
    )
    return Built(model, graph.counts, frozenset(graph.used))


def _compute(name: str, graph: Graph) -> None:
    """An output that is constant becomes a copy of a constant, since outputs are computed."""
    source = graph.fresh(f"{name}/value")
    tensor, array = graph.tensors[name], graph.constants.pop(name)
    graph.tensors[source], graph.constants[source] = replace(tensor, name=source), array
    for index, node in enumerate(graph.nodes):
        if name in node.inputs:
            inputs = tuple(source if read == name else read for read in node.inputs)
            graph.nodes[index] = replace(node, inputs=inputs)
    graph.append(Node(f"{name}/copy", "Identity", (source,), (name,)))


def frozen_inputs(files: Mapping[str, Path]) -> dict[str, Array]:
    """The values of frozen inputs, read from .npy files; UsageError where one cannot be read."""
    from tilewright.arrays import read_array

    arrays: dict[str, Array] = {}
    for name, path in files.items():
        try:
            arrays[name] = read_array(path)
        except UsageError as error:
            raise UsageError(
                f"--freeze {name}={path} cannot be read", why=error.why, fix="pass a .npy file", file=str(path)
            ) from None
    return arrays
