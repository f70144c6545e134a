"""The constants of a network by name: read, replaced all at once, saved and loaded with their types and shapes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from tilewright.errors import StateError, UsageError
from tilewright.graphs.container import damaged, read_container, write_container
from tilewright.model import Array, Model
from tilewright.report.codec import Json

KIND = "parameters"
CHECKPOINT = "checkpoint"
VERSION = 1


@dataclass(frozen=True)
class Parameter:
    """A named constant. UsageError for an empty name."""

    name: str
    value: Array

    def __post_init__(self) -> None:
        """Refuse a parameter that nothing could name."""
        if not self.name:
            raise UsageError("a parameter has no name", why="parameters are found by their name")


def parameters(model: Model) -> tuple[Parameter, ...]:
    """Every constant of the model, by name."""
    return tuple(Parameter(name, model.constants[name]) for name in sorted(model.constants))


def load_parameters(model: Model, values: Mapping[str, Array]) -> Model:
    """The model with some constants replaced; UsageError names the first that does not fit, and nothing is changed."""
    for name, value in values.items():
        if name not in model.constants:
            raise UsageError(f"parameter '{name}' is not in the network", why="it has no constant of that name")
        held = model.constants[name]
        if value.shape != held.shape or value.dtype != held.dtype:
            raise UsageError(
                f"parameter '{name}' is {value.dtype}{list(value.shape)}",
                why=f"the network has {held.dtype}{list(held.shape)}", tensor=name,
            )  # fmt: skip
    return model.replace(constants={**model.constants, **values})


def save_parameters(values: Iterable[Parameter], path: Path) -> None:
    """Write parameters; UsageError for a name that stands twice. Not-a-number and infinities are values like others."""
    _write(values, path, KIND, None)


def load_parameters_from_file(model: Model, path: Path) -> Model:
    """The model with the parameters of a file; StateError where it is damaged or does not fit, nothing is changed."""
    named, _ = _read(path, KIND)
    return _fitting(model, named, path)


def save_checkpoint(model: Model, path: Path, optimizer_state: Mapping[str, Json] | None = None) -> None:
    """Write all parameters and an optimiser's state; numbers keep their types."""
    _write(parameters(model), path, CHECKPOINT, dict(optimizer_state or {}))


def load_checkpoint(model: Model, path: Path) -> tuple[Model, dict[str, Json]]:
    """The model and the optimiser's state of a checkpoint; StateError as for parameters."""
    named, body = _read(path, CHECKPOINT)
    state = body.get("optimizer")
    if not isinstance(state, dict):
        raise damaged(path, CHECKPOINT, "it holds no state of an optimiser")
    return _fitting(model, named, path), state


def _write(values: Iterable[Parameter], path: Path, kind: str, optimizer: dict[str, Json] | None) -> None:
    listed = list(values)
    twice = [name for name, count in Counter(p.name for p in listed).items() if count > 1]
    if twice:
        raise UsageError(f"two parameters are called '{twice[0]}'", why="a file finds them by name", fix="rename one")
    # names come from the model and may hold anything: in the archive they are numbers
    body: dict[str, Json] = {"names": [p.name for p in listed]}
    if optimizer is not None:
        body["optimizer"] = optimizer
    write_container(path, kind, VERSION, body, {f"p{n}": p.value for n, p in enumerate(listed)})


def _read(path: Path, kind: str) -> tuple[dict[str, Array], dict[str, Json]]:
    body, arrays = read_container(path, kind, VERSION)
    names = body.get("names") if isinstance(body, dict) else None
    if not isinstance(body, dict) or not isinstance(names, list) or len(names) != len(arrays):
        raise damaged(path, kind, "its names do not fit its arrays")
    named = {str(name): array for name, array in zip(names, arrays.values(), strict=True)}
    if len(named) != len(names):
        raise damaged(path, kind, "a name stands twice")
    return named, body


def _fitting(model: Model, values: Mapping[str, Array], path: Path) -> Model:
    try:
        return load_parameters(model, values)
    except UsageError as error:
        raise StateError(f"'{path}' does not fit the network", why=str(error), file=str(path)) from error
