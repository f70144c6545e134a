"""What a network in codes gives, by ONNX Runtime, with other scales and biases tried on one session.

Scales, zero points and biases are initialisers that are inputs as well, so that a trial is a run and builds nothing.
One thread and no optimisation: the same samples give the same numbers on every machine of one kind.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from tilewright.frontend.values import ONNX_TYPE
from tilewright.frontend.write import to_onnx
from tilewright.model import Array, Model, Node
from tilewright.ops.codes import Exponentials
from tilewright.ops.registry import codes_of
from tilewright.quantiser.static.codes import Coding
from tilewright.quantiser.static.samples import Samples
from tilewright.quantiser.static.statistics import MASKED
from tilewright.run.onnx_session import Session

Reals = npt.NDArray[np.float64]


def session_of(model: Model, names: Sequence[str], variable: Sequence[str] = ()) -> Session:
    """A session that gives these tensors, and takes the constants in `variable` as inputs too."""
    from onnx import helper

    proto = to_onnx(model)
    known = {value.name for value in proto.graph.output}
    for name in dict.fromkeys(names):
        if name not in known:
            tensor = model.tensors[name]
            proto.graph.output.append(helper.make_tensor_value_info(name, ONNX_TYPE[tensor.dtype], tensor.shape))
    for name in variable:
        tensor = model.tensors[name]
        proto.graph.input.append(helper.make_tensor_value_info(name, ONNX_TYPE[tensor.dtype], tensor.shape))
    return Session(proto, list(dict.fromkeys(names)), "while ranges are measured")


def judged(model: Model, samples: Samples) -> dict[str, bool]:
    """The tensors by which a result is judged: the outputs, or what the Softmax of one was made of (True)."""
    writers, names = model.producers(), dict[str, bool]()
    before = {
        name: writer.inputs[0]
        for name in model.outputs
        if (writer := writers.get(name)) is not None and _exponentials(writer) and writer.inputs[0] in writers
    }
    values = session_of(model, list(before.values())).run(samples.call(0)) if before else {}
    for name in model.outputs:
        if name in before and bool((values[before[name]] > MASKED).all()):
            names[before[name]] = True
        elif model.tensors[name].dtype.is_float:
            names[name] = False
    return names


def _exponentials(node: Node) -> bool:
    return isinstance(codes_of(node), Exponentials)


def centred(value: Array, peeled: bool) -> Reals:
    """A judged tensor; less its mean along the last axis where Softmax takes that away."""
    reals = value.astype(np.float64)
    return reals - reals.mean(axis=-1, keepdims=True) if peeled else reals


def noise_to_signal(reals: Sequence[Reals], coded: Sequence[Reals]) -> float:
    """The energy of the differences over that of the signal, over all samples."""
    noise = sum(float(np.square(a - b).sum()) for a, b in zip(reals, coded, strict=True))
    signal = sum(float(np.square(a).sum()) for a in reals)
    return noise / signal if signal else float(noise > 0)


def decibels(ratio: float) -> float:
    """A ratio of noise to signal as signal to noise in dB; 200 where there is no noise."""
    return 200.0 if ratio <= 1e-20 else -10.0 * float(np.log10(ratio))


def scale_arrays(names: tuple[str, str], coding: Coding) -> dict[str, Array]:
    """Scale and zero point of a coding by the names that they have in a session."""
    zero = np.array(coding.zero_point, coding.dtype.numpy)
    return {names[0]: np.array(coding.scale, np.float32), names[1]: zero}
