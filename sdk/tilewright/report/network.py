"""What a report says of the network itself: its interface, its size and the form in which it came."""

from __future__ import annotations

from dataclasses import dataclass

from tilewright.report.calls import StateReport


@dataclass(frozen=True)
class LengthReport:
    """An axis of which data decides the length: `count` is the output that says how many elements are no padding."""

    axis: int
    count: str


@dataclass(frozen=True)
class TensorReport:
    """An input or output of the network; scale and zero point where it holds codes.

    `lengths` are the axes of which data decides the length.
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    bytes: int
    scale: float | None = None
    zero_point: int | None = None
    lengths: tuple[LengthReport, ...] = ()


@dataclass(frozen=True)
class QuantisationReport:
    """The form in which the model came ("" for a float network) and the tensors that stay float in it."""

    form: str
    float_tensors: tuple[str, ...]


@dataclass(frozen=True)
class ModelReport:
    """The network as it was loaded."""

    name: str
    sha256: str
    nodes: int
    macs: int
    parameter_bytes: int
    inputs: tuple[TensorReport, ...]
    outputs: tuple[TensorReport, ...]
    quantisation: QuantisationReport
    states: tuple[StateReport, ...] = ()
