"""Forms of quantisation, all by ONNX Runtime's tool, and the inputs that ranges are measured on."""

from __future__ import annotations

import logging
import tempfile
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from network_files import Arrays
from numpy.typing import NDArray
from quantise import Samples, quantise

SAMPLES = 6


def drawn_inputs(model: onnx.ModelProto, count: int) -> list[Arrays]:
    """Seeded inputs: noise around a level for each channel; whole numbers are words, those called mask end in zeros."""
    random = np.random.default_rng(zlib.crc32(model.graph.name.encode()) ^ 1)

    def values(name: str, kind: int, shape: list[int]) -> NDArray[Any]:
        if kind == onnx.TensorProto.FLOAT:
            levels = random.integers(-80, 81, shape[:2] + [1] * (len(shape) - 2))
            return ((levels + random.integers(-48, 49, shape)) / 32).astype(np.float32)
        if name == "mask":
            return (np.arange(shape[-1]) < random.integers(shape[-1] // 2, shape[-1])).astype(np.int64)[None]
        return random.integers(0, 64, shape).astype(np.int64)

    types = {given.name: given.type.tensor_type for given in model.graph.input}
    return [
        {name: values(name, kind.elem_type, [d.dim_value for d in kind.shape.dim]) for name, kind in types.items()}
        for _ in range(count)
    ]


def through_files(model: onnx.ModelProto, convert: Callable[[str, str], None]) -> onnx.ModelProto:
    """What a converter of files makes of a model."""
    logging.disable(logging.WARNING)  # it recommends its own pre-processing, which would merge layers
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "float.onnx", Path(folder) / "quantised.onnx"
        source.write_bytes(model.SerializeToString())
        convert(str(source), str(target))
        made = onnx.load(str(target))
    logging.disable(logging.NOTSET)
    return made


def static(model: onnx.ModelProto, samples: Sequence[Arrays], **choices: Any) -> onnx.ModelProto:
    """Ranges measured on samples; `choices` are those of `quantize_static`."""
    from onnxruntime.quantization import CalibrationDataReader, quantize_static

    class Reader(Samples, CalibrationDataReader):  # type: ignore[misc]
        """ONNX Runtime wants its own base class."""

    return through_files(model, lambda source, target: quantize_static(source, target, Reader(samples), **choices))


def operators_u8(model: onnx.ModelProto, samples: Sequence[Arrays]) -> onnx.ModelProto:
    """QLinearConv and its kin on unsigned codes, one scale for all channels."""
    from onnxruntime.quantization import QuantFormat, QuantType

    return static(
        model, samples, quant_format=QuantFormat.QOperator, activation_type=QuantType.QUInt8,
        weight_type=QuantType.QUInt8,
    )  # fmt: skip


def wide_activations(model: onnx.ModelProto, samples: Sequence[Arrays]) -> onnx.ModelProto:
    """Activations of 16 bits around weights of 8."""
    from onnxruntime.quantization import QuantFormat, QuantType

    return static(
        model, samples, quant_format=QuantFormat.QDQ, per_channel=True, activation_type=QuantType.QInt16,
        weight_type=QuantType.QInt8, extra_options={"UseQDQContribOps": False},
    )  # fmt: skip


def narrow_weights(model: onnx.ModelProto, samples: Sequence[Arrays]) -> onnx.ModelProto:
    """Weights of 4 bits below activations of 8."""
    from onnxruntime.quantization import QuantFormat, QuantType

    return static(
        model, samples, quant_format=QuantFormat.QDQ, per_channel=True, activation_type=QuantType.QInt8,
        weight_type=QuantType.QInt4,
    )  # fmt: skip


def dynamic(model: onnx.ModelProto, samples: Sequence[Arrays]) -> onnx.ModelProto:
    """Weights of 8 bits; the range of every activation is measured at run time."""
    from onnxruntime.quantization import QuantType, quantize_dynamic

    return through_files(model, lambda source, target: quantize_dynamic(source, target, weight_type=QuantType.QInt8))


def newest(model: onnx.ModelProto) -> onnx.ModelProto:
    """The same graph with the version of the standard that has types of 4 and 16 bits."""
    changed = onnx.ModelProto()
    changed.CopyFrom(model)
    changed.opset_import[0].version, changed.ir_version = 21, 10
    return changed


def formed(model: onnx.ModelProto, form: str) -> onnx.ModelProto:
    """A model in one of `FORMS`."""
    samples = drawn_inputs(model, SAMPLES)
    if form == "float":
        return model
    if form in ("int16", "int4"):
        model = newest(model)
    made: onnx.ModelProto = FORMS[form](model, samples)
    return made


FORMS: dict[str, Callable[[onnx.ModelProto, Sequence[Arrays]], onnx.ModelProto]] = {
    "int8": quantise,
    "u8": operators_u8,
    "int16": wide_activations,
    "int4": narrow_weights,
    "dynamic": dynamic,
}
"""QDQ on int8; operators on codes, u8; QDQ with activations of 16 bits; with weights of 4; dynamic quantisation."""
