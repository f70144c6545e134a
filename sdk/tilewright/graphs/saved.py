"""Plans as files: every value of a plan as tagged JSON, arrays beside it, kernels by name.

Only classes listed here come back, so a file can name no code. A kernel is looked up again among those of its
platform: a plan whose kernel is gone is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from tilewright.errors import PlatformError, StateError, TilewrightError
from tilewright.graphs.container import damaged, read_container, write_container
from tilewright.layout import Layout
from tilewright.model import Array, Clamp, DType, Length, Node, Quantisation, Tensor
from tilewright.ops.index import affine, body, nest, table, transfer
from tilewright.ops.operator import Call, Operator
from tilewright.ops.registry import find
from tilewright.plan import plan as plans
from tilewright.plan.check import check
from tilewright.plan.plan import ExecutionPlan
from tilewright.platform import Constant, Kernel
from tilewright.plugins import kernels_of, platform
from tilewright.report.codec import Json
from tilewright.tiling import schedule

KIND = "execution plan"
VERSION = 2

PLAN_CLASSES = (
    Clamp, Constant, Call, Layout, Length, Node, Quantisation, Tensor, ExecutionPlan,
    plans.Fill, plans.FrozenSlot, plans.Instruction, plans.PartCopy, plans.Aliasing, plans.Slot, plans.StatePair,
)  # fmt: skip
CUT_MODULES = (schedule, nest, affine, table, transfer, body)


@cache
def _classes() -> Mapping[str, type]:
    """Classes by the tag that a file uses; those of tile schedules carry their module's name."""
    classes: dict[str, type] = {kind.__name__: kind for kind in PLAN_CLASSES}
    for module in CUT_MODULES:
        stem = module.__name__.rpartition(".")[2]
        for name, kind in vars(module).items():
            if isinstance(kind, type) and is_dataclass(kind) and kind.__module__ == module.__name__:
                classes[f"{stem}.{name}"] = kind
    return classes


@cache
def _tags() -> Mapping[type, str]:
    return {kind: tag for tag, kind in _classes().items()}


def save_plan(plan: ExecutionPlan, path: Path) -> None:
    """Write the plan; the same plan gives the same bytes."""
    writer = _Writer()
    body: Json = writer.plain(plan)
    write_container(path, KIND, VERSION, body, writer.arrays)


def load_plan(path: Path) -> ExecutionPlan:
    """Read and check a plan; StateError where the file is damaged, of another version, or names a kernel that is gone.

    Constants that were the same array are the same again.
    """
    content, arrays = read_container(path, KIND, VERSION)
    try:
        plan = _Reader(arrays).value(content)
        if not isinstance(plan, ExecutionPlan):
            raise damaged(path, KIND, "it holds something else")
        _check_fields(plan)
        check(plan)
    except StateError:
        raise
    except (TilewrightError, TypeError, ValueError, KeyError, IndexError, AttributeError) as error:
        raise damaged(path, KIND, str(error) or type(error).__name__) from error
    return plan


@dataclass
class _Writer:
    """Turns values into JSON; arrays are named in order of appearance, each once."""

    arrays: dict[str, Array] = field(default_factory=dict)
    known: dict[int, str] = field(default_factory=dict)

    def plain(self, value: Any) -> Json:
        if value is None or isinstance(value, bool | int | float | str):
            return value
        if isinstance(value, np.ndarray):
            return {"array": self.array(value)}
        if isinstance(value, DType):
            return {"dtype": value.value}
        if isinstance(value, bytes):
            return {"bytes": value.hex()}
        if isinstance(value, Operator):
            return {"operator": [value.name, value.domain]}
        if isinstance(value, Kernel):
            types: list[Json] = [list(value.types[0]), list(value.types[1])]
            return {"kernel": [value.platform, value.name, value.op, *types, *([True] if value.vectorised else [])]}
        if isinstance(value, tuple | list):
            return [self.plain(item) for item in value]
        if isinstance(value, Mapping):
            return {"map": [[self.plain(key), self.plain(item)] for key, item in value.items()]}
        if type(value) in _tags():
            values = {f.name: self.plain(getattr(value, f.name)) for f in fields(value) if f.init}
            return {"class": _tags()[type(value)], "fields": values}
        raise AssertionError(f"a {type(value).__name__} has no place in a saved plan")

    def array(self, value: Array) -> str:
        if id(value) not in self.known:
            self.known[id(value)] = f"a{len(self.known)}"
            self.arrays[self.known[id(value)]] = value
        return self.known[id(value)]


@dataclass(frozen=True)
class _Reader:
    """Turns JSON back into values."""

    arrays: Mapping[str, Array]

    def value(self, plain: Json) -> Any:
        if plain is None or isinstance(plain, bool | int | float | str):
            return plain
        if isinstance(plain, list):
            return tuple(self.value(item) for item in plain)
        if "array" in plain:
            return self.arrays[str(plain["array"])]
        if "dtype" in plain:
            return DType(plain["dtype"])
        if "bytes" in plain:
            return bytes.fromhex(str(plain["bytes"]))
        if "map" in plain:
            pairs: Any = plain["map"]
            return {self.value(key): self.value(item) for key, item in pairs}
        if "operator" in plain:
            return _operator(self.value(plain["operator"]))
        if "kernel" in plain:
            return _kernel(self.value(plain["kernel"]))
        return self.instance(str(plain["class"]), plain["fields"])

    def instance(self, tag: str, values: Json) -> Any:
        kind = _classes().get(tag)
        if kind is None or not isinstance(values, dict):
            raise ValueError(f"there is no '{tag}' in a plan")
        return kind(**{name: self.value(item) for name, item in values.items()})


def _operator(named: tuple[Any, ...]) -> Operator:
    operator = find(*named)
    if operator is None:
        raise ValueError(f"there is no operator '{named[0]}' any more")
    return operator


def _kernel(named: tuple[Any, ...]) -> Kernel:
    home, name, op, inputs, outputs, *vectorised = named
    try:
        offered = kernels_of(platform(home))
    except (PlatformError, TilewrightError) as error:
        raise ValueError(f"platform '{home}' is not installed") from error
    for kernel in offered:
        if (kernel.platform, kernel.name, kernel.op, kernel.types) == (home, name, op, (inputs, outputs)):
            return replace(kernel, vectorised=True) if vectorised else kernel
    raise ValueError(f"platform '{home}' has no kernel '{name}' for {op} any more")


def _check_fields(plan: ExecutionPlan) -> None:
    """The parts that every stage relies on have their types: a file can be well formed and still say nonsense."""
    expected = (
        (plan.instructions, plans.Instruction), (plan.slots, plans.Slot), (plan.frozen_slots, plans.FrozenSlot),
        (plan.state, plans.StatePair), (plan.input_slots, int), (plan.output_slots, int), (plan.output_names, str),
    )  # fmt: skip
    for values, kind in expected:
        if not isinstance(values, tuple) or not all(isinstance(value, kind) for value in values):
            raise ValueError(f"a list of {kind.__name__} holds something else")
    for place, slot in enumerate(plan.slots):
        if slot.index != place or not isinstance(slot.tensor, Tensor) or not isinstance(slot.layout, Layout):
            raise ValueError(f"slot {place} is none")
        for length in slot.tensor.lengths:
            if not isinstance(length, Length) or length.axis not in range(len(slot.tensor.shape)):
                raise ValueError(f"slot {place} has a length that is none")
    for place, instruction in enumerate(plan.instructions):
        if instruction.index != place or not isinstance(instruction.call, Call):
            raise ValueError(f"instruction {place} is none")
        if not isinstance(instruction.kernel, Kernel):
            raise ValueError(f"instruction {place} has no kernel")
