"""A network that learns as C: one call a step, one an inference, and its parameters saved and loaded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tilewright.codegen.artifacts import Artifacts, Texts
from tilewright.codegen.c_types import C_TYPES
from tilewright.codegen.comments import safe, shape_text
from tilewright.codegen.render import render
from tilewright.plan.plan import ExecutionPlan
from tilewright.version import VERSION

TEMPLATES = Path(__file__).parent / "templates"


@dataclass(frozen=True)
class TrainingPort:
    """An input or output as the caller gives it: C type, name of the parameter, bytes, what it is in the network."""

    index: int
    c_type: str
    name: str
    size_bytes: int
    comment: str


@dataclass(frozen=True)
class TrainingText:
    """What the templates print: the common name, those of both networks, their ports, and calls for an update."""

    name: str
    upper: str
    tool: str
    step: str
    infer: str
    given: tuple[TrainingPort, ...]
    inputs: tuple[TrainingPort, ...]
    outputs: tuple[TrainingPort, ...]
    accumulate: int


def source_of(name: str) -> str:
    """The C file and header of a bundle's training, without their endings."""
    return f"{name}_training"


def with_training(
    artifacts: Artifacts, name: str, step: ExecutionPlan, infer: ExecutionPlan, target: str, accumulate: int = 1
) -> Artifacts:
    """The project of both networks with a header and a C file for training; `target` is the input that takes it.

    Parameters move in the last of every `accumulate` calls, which the header tells.
    """
    shown = TrainingText(
        name=name, upper=name.upper(), tool=f"tilewright {VERSION}", step=step.name, infer=infer.name,
        given=_ports(step, step.input_slots, "input", target), inputs=_ports(infer, infer.input_slots, "input", ""),
        outputs=_ports(infer, infer.output_slots, "output", ""), accumulate=accumulate,
    )  # fmt: skip
    made = {
        f"src/{source_of(name)}.{kind}": (render(TEMPLATES / f"training.{kind}.mako", t=shown),) for kind in ("h", "c")
    }
    assert isinstance(artifacts.files, Texts), "our own generator writes texts"
    return replace(artifacts, files=Texts({**artifacts.files.files, **made}))


def _ports(plan: ExecutionPlan, slots: Sequence[int], kind: str, target: str) -> tuple[TrainingPort, ...]:
    ports = []
    for index, slot in enumerate(slots):
        tensor = plan.slots[slot].tensor
        named = "target" if tensor.name == target and target else f"{kind}_{index}"
        comment = f"'{safe(tensor.name)}', {shape_text(tensor)}"
        ports.append(TrainingPort(index, C_TYPES[tensor.dtype], named, tensor.size_bytes, comment))
    return tuple(ports)
