"""Layers at one sitting on a played cluster: copies as late and as early as may be, and faults in generated code."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

import numpy as np
import onnx
import pytest
from graphs import node, onnx_model
from tilewright.compile import Compiled, compile_model, write
from tilewright.errors import TilewrightError
from tilewright.model import Array, Tensor
from tilewright.options import CompileOptions
from tilewright.plan.execute import run_slots
from tilewright.run.build import build
from tilewright.run.simulate import execute
from tilewright.target import load_target, missing_tools

LATE: tuple[str, ...] = ()
EARLY = ("-DTW_DMA_EARLY",)


class Files(Protocol):
    """What the fixture `network` finds."""

    @property
    def model(self) -> Path: ...


@pytest.fixture(autouse=True)
def installed() -> None:
    for tool, _ in missing_tools(load_target("qemu_pulp")):
        pytest.skip(f"{tool} is not installed")


def compiled(source: Path, project: Path) -> Compiled:
    done = compile_model(source, CompileOptions(quantized_io=True), load_target("qemu_pulp"))
    assert any(i.schedule is not None and i.schedule.starts for i in done.plan.instructions)
    project.mkdir()
    write(done, project)
    return done


def drawn(rng: np.random.Generator, tensor: Tensor) -> Array:
    """Codes of the whole range, floats, or places among eight."""
    if tensor.dtype.is_float:
        return rng.normal(0, 1, tensor.shape).astype(tensor.dtype.numpy)
    low, high = tensor.dtype.range if tensor.dtype.bits == 8 else (0, 7)
    return rng.integers(low, high, tensor.shape, endpoint=True).astype(tensor.dtype.numpy)


def equal(done: Compiled, project: Path, work: Path, flags: Sequence[str]) -> bool:
    """True where the cluster's outputs are those of the semantics in NumPy, bit for bit, twice."""
    image = build(project, done.artifacts.interface, load_target("qemu_pulp"), work, extra_flags=flags)
    rng = np.random.default_rng(3)
    tensors = [done.plan.slots[slot].tensor for slot in done.plan.input_slots]
    calls = [[drawn(rng, tensor) for tensor in tensors] for _ in range(2)]
    first, second = ([array.tobytes() for array in call] for call in calls)
    answer = execute(image, first, more=[second], timeout=60)
    wanted = [run_slots(done.plan, call) for call in calls]
    return [list(step.outputs) for step in answer.steps] == [
        [slots[slot].tobytes() for slot in done.plan.output_slots] for slots in wanted
    ]


@pytest.mark.parametrize("name", ["ad_int8", "resnet8_int8"])
@pytest.mark.parametrize("flags", [LATE, EARLY], ids=["late", "early"])
def test_bit_equal(name: str, flags: Sequence[str], tmp_path: Path, network: Callable[[str], Files]) -> None:
    done = compiled(network(name).model, tmp_path / "project")
    assert equal(done, tmp_path / "project", tmp_path / "work", flags)


def with_errand(path: Path) -> Path:
    """Rows of what one layer makes are taken at places that are known when it runs, which is nothing for the cores."""
    draw = np.random.default_rng(1)
    constants = {"c": draw.normal(0, 1, (8, 16)).astype(np.float32), "w": draw.normal(0, 1, (4, 16)).astype(np.float32)}
    nodes = [
        node("Abs", "x", "made"), node("Gather", "made places", "taken", axis=0), node("Mul", "made c", "scaled"),
        node("Neg", "scaled", "y"), node("Mul", "taken w", "z"),
    ]  # fmt: skip
    model = onnx_model(nodes, {"x": [8, 16], "places": [4]}, ["y", "z"], constants)
    model.graph.input[1].type.tensor_type.elem_type = onnx.TensorProto.INT64
    onnx.save(model, path)
    return path


@pytest.mark.parametrize("flags", [LATE, EARLY], ids=["late", "early"])
@pytest.mark.parametrize("waits", [True, False])
def test_the_driver_does_errands(waits: bool, flags: Sequence[str], tmp_path: Path) -> None:
    """Without a wait for what they read, that is not there where copies happen as late as they may."""
    done = compiled(with_errand(tmp_path / "errand.onnx"), tmp_path / "project")
    assert [i.name for i in done.plan.instructions if i.errand_of]
    if not waits:
        source = tmp_path / "project" / "src" / f"{done.plan.name}.c"
        text = source.read_text()
        assert text.count("/* what is read now */") == 1
        kept = [line for line in text.splitlines(keepends=True) if "/* what is read now */" not in line]
        source.write_text("".join(kept))
    assert equal(done, tmp_path / "project", tmp_path / "work", flags) == (waits or flags == EARLY)


@pytest.mark.parametrize(
    ("old", "new", "flags"),
    [
        ("        tilewright_wait_lists(sitting, sitting->turn->done);\n", "", LATE),
        ("    tilewright_wait_lists(sitting, lists);\n", "", LATE),
        ("tilewright_start_lists(sitting, sitting->turn->started)",
         "tilewright_start_lists(sitting, sitting->turn->started + 1)", EARLY),
        ("list->constants != 0u ? sitting->constants : sitting->home", "sitting->constants", LATE),
    ],
    ids=["a missing wait for loads", "a missing wait for stores", "copies that start too early", "another's bytes"],
)  # fmt: skip
def test_faults_in_the_order_of_copies_are_seen(
    old: str, new: str, flags: Sequence[str], tmp_path: Path, network: Callable[[str], Files]
) -> None:
    done = compiled(network("ad_int8").model, tmp_path / "project")
    source = tmp_path / "project" / "src" / f"{done.plan.name}.c"
    text = source.read_text()
    assert text.count(old) == 1
    source.write_text(text.replace(old, new))
    try:
        assert not equal(done, tmp_path / "project", tmp_path / "work", flags)
    except TilewrightError:
        return  # it trapped, or never ended
