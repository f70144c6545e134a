"""ONNX's own interface for backends: `prepare`, `run_model`, `run_node`, through our C, built and run on this machine.

`onnx.backend.test.BackendTest(tilewright.backend, __name__)` runs the standard's own tests. What we refuse is raised as
BackendIsNotSupposedToImplementIt, with the sentence of the refusal, which the runner prints with -v. Shapes that the
model leaves open are those of the inputs; an input that must be known at compile time is frozen to its value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import onnx
from onnx.backend.base import Backend, BackendRep, namedtupledict

from tilewright.conformance.node_cases import Case
from tilewright.conformance.node_cases import prepare as prepare_case
from tilewright.conformance.program import run_batch
from tilewright.errors import MismatchError, UnsupportedError
from tilewright.frontend.names import quoted
from tilewright.frontend.values import ONNX_TYPE
from tilewright.plugins import platform
from tilewright.run.lengths import without_padding


class CompiledModel(BackendRep):
    """A model that is compiled and run in C for the inputs that it is given."""

    def __init__(self, model: onnx.ModelProto) -> None:
        self._model = model

    def run(self, inputs: Any, **kwargs: Any) -> tuple[Any, ...]:
        """The outputs, by place and by name; UnsupportedError, as a skipped test, for what is refused."""
        given = _listed(self._model, inputs)
        case = Case("model", "backend", "", _shaped(self._model, given), ((given, ()),), 0.0, 0.0)
        try:
            prepared = prepare_case(case, 0, platform("generic"))
        except UnsupportedError as error:
            raise _refused(error) from error
        with TemporaryDirectory() as folder:
            (outcome,) = run_batch([prepared.subject], Path(folder))
        if outcome.failure:
            raise MismatchError("the compiled model did not run", why=outcome.failure)
        names = [value.name for value in self._model.graph.output]
        results = without_padding(prepared.subject.outputs, outcome.runs[0])
        typed = [
            array.astype(onnx.helper.tensor_dtype_to_np_dtype(ONNX_TYPE[tensor.dtype]))  # four bits have types there
            for tensor, array in zip(prepared.subject.outputs, results, strict=True)
        ]
        return namedtupledict("Outputs", names)(*typed[: len(names)])


def _listed(model: onnx.ModelProto, inputs: Any) -> tuple[np.ndarray, ...]:
    """One array for each input that no initialiser gives, from a list, a mapping by name, or one array."""
    stored = {tensor.name for tensor in model.graph.initializer}
    for value in model.graph.input:
        if not value.type.HasField("tensor_type"):
            kind = value.type.WhichOneof("value")
            what, why = f"input {quoted(value.name)} cannot be used", f"it is not a tensor ({kind})"
            raise _refused(UnsupportedError(what, why=why, fix="export the model with tensors only"))
    names = [value.name for value in model.graph.input if value.name not in stored]
    if isinstance(inputs, Mapping):
        inputs = [inputs[name] for name in names]
    elif isinstance(inputs, np.ndarray):
        inputs = [inputs]
    return tuple(np.asarray(each) for each in inputs)


def _shaped(model: onnx.ModelProto, given: Sequence[np.ndarray]) -> onnx.ModelProto:
    """The model with the shapes of these inputs, where it leaves them open."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    stored = {tensor.name for tensor in model.graph.initializer}
    for value, array in zip([each for each in copy.graph.input if each.name not in stored], given, strict=False):
        kind = value.type.tensor_type
        if value.type.HasField("tensor_type") and not all(d.HasField("dim_value") for d in kind.shape.dim):
            del kind.shape.dim[:]
            for size in array.shape:
                kind.shape.dim.add().dim_value = size
    return copy


def _refused(error: UnsupportedError) -> Exception:
    from onnx.backend.test.runner import BackendIsNotSupposedToImplementIt

    return BackendIsNotSupposedToImplementIt(str(error))


class TilewrightBackend(Backend):
    """The interface's class; its methods are the functions of this module."""

    @classmethod
    def prepare(cls, model: onnx.ModelProto, device: str = "CPU", **kwargs: Any) -> CompiledModel:
        """A model that can be run many times."""
        if not cls.supports_device(device):
            raise _refused(UnsupportedError(f"there is no device '{device}' here", fix="choose CPU"))
        return CompiledModel(model)

    @classmethod
    def run_node(
        cls, node: onnx.NodeProto, inputs: Any, device: str = "CPU", outputs_info: Any = None, **kwargs: Any
    ) -> tuple[Any, ...]:
        """The results of one node; `opset_version` says of which version it is."""
        given = [np.asarray(each) for each in (inputs if isinstance(inputs, list | tuple) else [inputs])]
        values = [
            onnx.helper.make_tensor_value_info(name, onnx.helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
            for name, array in zip([name for name in node.input if name], given, strict=True)
        ]
        results = [onnx.helper.make_value_info(name, onnx.TypeProto()) for name in node.output if name]
        for value in results:
            value.type.tensor_type.elem_type = onnx.TensorProto.FLOAT
        version = kwargs.get("opset_version", onnx.defs.onnx_opset_version())
        imports = [onnx.helper.make_opsetid(node.domain, version)]
        graph = onnx.helper.make_graph([node], "node", values, results)
        return cls.run_model(onnx.helper.make_model(graph, opset_imports=imports), given, device)

    @classmethod
    def supports_device(cls, device: str) -> bool:
        """C of the generic platform runs on the processor."""
        return device.split(":")[0] == "CPU"


is_compatible = TilewrightBackend.is_compatible
prepare = TilewrightBackend.prepare
run_model = TilewrightBackend.run_model
run_node = TilewrightBackend.run_node
supports_device = TilewrightBackend.supports_device
