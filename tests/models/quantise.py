"""Static quantisation with ONNX Runtime: QDQ, int8, per channel, asymmetric activations, symmetric weights."""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from network_files import Arrays
from numpy.typing import NDArray
from onnx import numpy_helper

CODES = 100


class Samples:
    """What ONNX Runtime asks for while it measures ranges: one dictionary of inputs after another, then None."""

    def __init__(self, samples: Sequence[Arrays]) -> None:
        self.rest = iter(samples)

    def get_next(self) -> Arrays | None:
        """The next sample."""
        return next(self.rest, None)


def quantise(model: onnx.ModelProto, samples: Sequence[Arrays]) -> onnx.ModelProto:
    """The QDQ form of a float model, its ranges measured on `samples`."""
    logging.disable(logging.WARNING)  # it recommends its own pre-processing, which would merge layers
    from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static

    class Reader(Samples, CalibrationDataReader):  # type: ignore[misc]
        """ONNX Runtime wants its own base class."""

    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "float.onnx", Path(folder) / "quantised.onnx"
        source.write_bytes(model.SerializeToString())
        quantize_static(
            str(source), str(target), Reader(samples), quant_format=QuantFormat.QDQ, per_channel=True,
            activation_type=QuantType.QInt8, weight_type=QuantType.QInt8,
            extra_options={"ActivationSymmetric": False, "WeightSymmetric": True},
        )  # fmt: skip
        result = onnx.load(str(target))
    logging.disable(logging.NOTSET)
    del result.metadata_props[:]
    used = {node.domain for node in result.graph.node}
    kept = [opset for opset in result.opset_import if opset.domain in used or opset.domain == ""]
    del result.opset_import[:]
    result.opset_import.extend(kept)
    onnx.checker.check_model(result)
    return result


def codes_in_use(model: onnx.ModelProto, samples: Sequence[Arrays]) -> dict[str, int]:
    """For each activation that is quantised, how many of the 256 codes the samples produce."""
    from network_files import session

    shown = onnx.ModelProto()
    shown.CopyFrom(model)
    constants = {tensor.name for tensor in model.graph.initializer}
    names = [n.output[0] for n in model.graph.node if n.op_type == "QuantizeLinear" and n.input[0] not in constants]
    known = {output.name for output in model.graph.output}
    shown.graph.output.extend(
        onnx.helper.make_tensor_value_info(name, onnx.TensorProto.INT8, None) for name in names if name not in known
    )
    running = session(shown)
    seen: dict[str, set[int]] = {name: set() for name in names}
    for sample in samples:
        values: list[NDArray[Any]] = running.run(names, sample)
        for name, value in zip(names, values, strict=True):
            seen[name].update(np.unique(value).tolist())
    return {name: len(codes) for name, codes in seen.items()}


def weight_bytes(model: onnx.ModelProto) -> int:
    """Bytes of all constants."""
    return sum(numpy_helper.to_array(tensor).nbytes for tensor in model.graph.initializer)
