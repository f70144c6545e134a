"""Trained networks on the cluster: bit-equal to the operators' meaning whatever the size of L1, inside its bytes."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

import numpy as np
import pytest
from numpy.typing import NDArray
from tilewright.compile import Compiled, compile_model, write
from tilewright.errors import DoesNotFit, FenceError, TilewrightError
from tilewright.options import CompileOptions
from tilewright.plan.execute import run_slots
from tilewright.run.build import build
from tilewright.run.ranges import fence_map
from tilewright.run.simulate import execute
from tilewright.target import load_target, missing_tools

NETWORKS = ("ad_int8", "dscnn_int8", "resnet8_int8", "vww_int8")
LATE: tuple[str, ...] = ()
EARLY = ("-DTW_DMA_EARLY",)
DOUBLE_KIB = {"ad_int8": 16, "dscnn_int8": 8, "resnet8_int8": 16, "vww_int8": 16}
"""L1 where some layer takes second buffers."""


class Files(Protocol):
    """What the fixture `trained` finds."""

    @property
    def model(self) -> Path: ...


@pytest.fixture(autouse=True)
def installed() -> None:
    for tool, _ in missing_tools(load_target("qemu_pulp")):
        pytest.skip(f"{tool} is not installed")


def compiled(source: Path, l1: int, project: Path, *, double: bool = True) -> Compiled:
    """The network for a cluster with `l1` bytes of L1; without `double` no copy runs beside computing."""
    without = frozenset[str]() if double else frozenset({"double_buffering"})
    options = CompileOptions(level_sizes={"l1": l1}, disabled_passes=without)
    done = compile_model(source, options, load_target("qemu_pulp"))
    project.mkdir()
    write(done, project)
    return done


def inputs_of(done: Compiled, seed: int) -> list[NDArray[np.generic]]:
    rng = np.random.default_rng(seed)
    tensors = [done.plan.slots[slot].tensor for slot in done.plan.input_slots]
    return [rng.integers(*t.dtype.range, t.shape, endpoint=True).astype(t.dtype.numpy) for t in tensors]


def runs_equal(done: Compiled, project: Path, work: Path, flags: Sequence[str], *, fence: bool = False) -> bool:
    """True where the cluster's outputs are those of the semantics in NumPy, bit for bit."""
    image = build(project, done.artifacts.interface, load_target("qemu_pulp"), work, extra_flags=flags, fence=fence)
    inputs = inputs_of(done, 5)
    slots = run_slots(done.plan, inputs)
    expected = [slots[slot].tobytes() for slot in done.plan.output_slots]
    return list(execute(image, [array.tobytes() for array in inputs]).outputs) == expected


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("kilobytes", [64, 32, 16, 8])
def test_bit_equal_with_copies_as_late_as_may_be(
    name: str, kilobytes: int, tmp_path: Path, trained: Callable[[str], Files]
) -> None:
    done = compiled(trained(name).model, kilobytes * 1024, tmp_path / "project")
    assert 0 < done.report.memory["l1"].worst_case <= kilobytes * 1024
    assert runs_equal(done, tmp_path / "project", tmp_path / "work", LATE)


@pytest.mark.parametrize("name", NETWORKS)
def test_bit_equal_with_copies_as_early_as_may_be(name: str, tmp_path: Path, trained: Callable[[str], Files]) -> None:
    done = compiled(trained(name).model, DOUBLE_KIB[name] * 1024, tmp_path / "project")
    assert any(i.schedule is not None and i.schedule.double for i in done.plan.instructions)
    assert runs_equal(done, tmp_path / "project", tmp_path / "work", EARLY)


@pytest.mark.parametrize("name", NETWORKS)
def test_bit_equal_in_single_buffers(name: str, tmp_path: Path, trained: Callable[[str], Files]) -> None:
    done = compiled(trained(name).model, 16 * 1024, tmp_path / "project", double=False)
    assert not any(i.schedule is not None and i.schedule.double for i in done.plan.instructions)
    assert runs_equal(done, tmp_path / "project", tmp_path / "work", LATE)


def test_the_exact_fence_lets_a_whole_network_pass(tmp_path: Path, trained: Callable[[str], Files]) -> None:
    done = compiled(trained("ad_int8").model, 16 * 1024, tmp_path / "project")
    assert runs_equal(done, tmp_path / "project", tmp_path / "work", LATE, fence=True)


def test_too_small_an_l1_is_refused_with_layer_and_smallest_size(
    tmp_path: Path, trained: Callable[[str], Files]
) -> None:
    source = trained("ad_int8").model
    with pytest.raises(DoesNotFit) as refused:
        compiled(source, 512, tmp_path / "project")
    assert refused.value.smallest["l1"] > 512
    assert refused.value.code == 4
    assert "its smallest tile takes" in str(refused.value)
    again = compiled(source, refused.value.smallest["l1"], tmp_path / "smallest")
    assert again.report.memory["l1"].worst_case <= refused.value.smallest["l1"]


# ---------------------------------------------------------------------------------------------- faults that are seen
def changed(project: Path, name: str, old: str, new: str) -> None:
    """Plant a fault into the generated code, at the first place where `old` stands."""
    source = project / "src" / f"{name}.c"
    text = source.read_text()
    assert old in text
    source.write_text(text.replace(old, new, 1))


@pytest.mark.parametrize(
    ("old", "new", "flags"),
    [
        ("        tilewright_wait(moving);\n", "", LATE),
        ("    tilewright_wait(moving);\n}", "}", LATE),
        ("moving = tilewright_start(copies, tiles[t].first, tiles[t].end", "moving = 0, (void)(copies", LATE),
        ("tilewright_end(); /* of the tile before */", "", LATE),
    ],
    ids=["a missing wait for loads", "a missing wait for stores", "missing copies", "a missing end"],
)
def test_a_missing_wait_or_copy_is_seen(
    old: str, new: str, flags: Sequence[str], tmp_path: Path, trained: Callable[[str], Files]
) -> None:
    done = compiled(trained("resnet8_int8").model, 16 * 1024, tmp_path / "project")
    changed(tmp_path / "project", done.plan.name, old, new)
    try:
        equal = runs_equal(done, tmp_path / "project", tmp_path / "work", flags)
    except TilewrightError:
        equal = False
    assert not equal


def test_a_byte_beyond_l1_traps(tmp_path: Path, trained: Callable[[str], Files]) -> None:
    done = compiled(trained("ad_int8").model, 16 * 1024, tmp_path / "project")
    name = done.plan.name
    changed(tmp_path / "project", name, f"static unsigned char {name}_l1[", f"static unsigned char {name}_l1[-64 + ")
    with pytest.raises((FenceError, TilewrightError), match=r"(?i)load|store|read|wrote|written"):
        runs_equal(done, tmp_path / "project", tmp_path / "work", LATE, fence=True)


@pytest.mark.parametrize(("pointer", "told"), [("const int32_t", "load|read"), ("int8_t", "stor|wrote")])
def test_cores_may_neither_read_nor_write_l2(
    pointer: str, told: str, tmp_path: Path, trained: Callable[[str], Files]
) -> None:
    """Weights, then results of the first layer."""
    done = compiled(trained("ad_int8").model, 16 * 1024, tmp_path / "project")
    name = done.plan.name
    pointed = f"            ({pointer} *)(void *)({name}"
    changed(tmp_path / "project", name, f"{pointed}_l1 + ", f"{pointed}_arena + ")
    with pytest.raises((FenceError, TilewrightError), match=rf"(?i){told}"):
        runs_equal(done, tmp_path / "project", tmp_path / "work", LATE)


def test_layers_stay_inside_their_own_bytes_of_l2(tmp_path: Path, trained: Callable[[str], Files]) -> None:
    done = compiled(trained("dscnn_int8").model, 16 * 1024, tmp_path / "project")
    image = build(
        tmp_path / "project", done.artifacts.interface, load_target("qemu_pulp"), tmp_path / "work", trace=True
    )
    inputs = [array.tobytes() for array in inputs_of(done, 1)]
    assert execute(image, inputs, fence=fence_map(done.placed)).outputs == execute(image, inputs).outputs


@pytest.mark.parametrize("driver", ["gcc", "clang"])
def test_tiled_code_is_clean_under_every_warning(driver: str, tmp_path: Path, trained: Callable[[str], Files]) -> None:
    if shutil.which(driver) is None:
        pytest.skip(f"{driver} is not installed")
    done = compiled(trained("resnet8_int8").model, 16 * 1024, tmp_path / "project")
    source = tmp_path / "project" / "src" / f"{done.plan.name}.c"
    warnings = ["-Wall", "-Wextra", "-Wconversion", "-Wpedantic", "-Wshadow", "-Wstrict-prototypes", "-Werror"]
    command = [driver, "-std=c99", "-O1", *warnings, "-c", str(source), "-o", str(tmp_path / "object.o")]
    assert subprocess.run(command, capture_output=True, text=True).stderr == ""
