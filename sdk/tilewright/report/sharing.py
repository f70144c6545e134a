"""What networks of one image share, as values of the report."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ArenaReport:
    """The bytes of a network in the common arena."""

    network: str
    offset: int
    bytes: int


@dataclass(frozen=True)
class SharedStateReport:
    """A state of the image, and the networks that read and write it."""

    name: str
    offset: int
    bytes: int
    networks: tuple[str, ...]


@dataclass(frozen=True)
class BundleReport:
    """Several networks in one image. `concurrent` are pairs of them of which one may run while the other does.

    Of `arrays` of constants `shared_arrays` serve several networks, which saves `saved_bytes`.
    """

    arena: tuple[ArenaReport, ...]
    concurrent: tuple[tuple[str, ...], ...]
    states: tuple[SharedStateReport, ...]
    arrays: int
    shared_arrays: int
    saved_bytes: int


@dataclass(frozen=True)
class WorkReport:
    """A step that does `work` times the multiply-accumulates of a plain one needs `step_bytes` of arena."""

    work: float
    step_bytes: int


@dataclass(frozen=True)
class LayerChoice:
    """The loss that steps reach where these parameters learn beside the last layer's, and whether they are taken."""

    parameters: tuple[str, ...]
    bytes: int
    loss: float | None
    taken: bool


@dataclass(frozen=True)
class TrainingReport:
    """A network that learns. A step and an inference need `step_bytes` and `infer_bytes` of arena, beside the states.

    A step does `work` times the multiply-accumulates of one that computes nothing twice. `losses` are those of
    the steps that ran in the simulator, one by one. Parameters move in the last of every `batch_accumulate` steps.
    `tried` are the steps that were planned until one was within the budget, `layers` is what `--update auto` has
    measured, the last layer first. `gradient` is "float" or "int8"; of the latter `float_losses` are those of the same
    steps in floats, and `still_losses` those of the last third of the samples without any step, where samples were
    given.
    """

    loss: str
    update: str
    optimizer: str
    parameters: tuple[str, ...]
    parameter_bytes: int
    step_bytes: int
    infer_bytes: int
    work: float = 1.0
    losses: tuple[float | None, ...] = ()
    batch_accumulate: int = 1
    tried: tuple[WorkReport, ...] = ()
    layers: tuple[LayerChoice, ...] = ()
    gradient: str = "float"
    float_losses: tuple[float | None, ...] = ()
    still_losses: tuple[float | None, ...] = ()
