"""A trained network on a board of each family: right, and inside its declared bytes by both fences."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Literal, Protocol

import numpy as np
import pytest
from tilewright.compile import Compiled, compile_model, write
from tilewright.errors import FenceError
from tilewright.options import CompileOptions
from tilewright.run.build import build
from tilewright.run.promises import keep_levels
from tilewright.run.ranges import fence_map
from tilewright.run.simulate import execute
from tilewright.target import load_target, missing_tools


class Files(Protocol):
    """What the fixture `network` finds."""

    @property
    def model(self) -> Path: ...

    def arrays(self) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]: ...


def compiled(source: Path, board: str, io: Literal["arena", "caller"], project: Path) -> Compiled:
    target = load_target(board)
    for tool, _ in missing_tools(target):
        pytest.skip(f"{tool} is not installed")
    done = compile_model(source, CompileOptions(io=io), target)
    project.mkdir()
    write(done, project)
    return done


@pytest.mark.parametrize(
    ("board", "io"),
    [
        ("host", "arena"),
        ("host", "caller"),
        ("qemu_rv32imafc", "arena"),
        ("qemu_mps2_an386", "caller"),
        ("qemu_microbit", "arena"),
    ],
)
def test_digits_stays_inside_its_declared_bytes(
    board: str, io: Literal["arena", "caller"], tmp_path: Path, network: Callable[[str], Files]
) -> None:
    files = network("digits")
    inputs, outputs = files.arrays()
    done = compiled(files.model, board, io, tmp_path / "project")
    target = load_target(board)
    image = build(tmp_path / "project", done.artifacts.interface, target, tmp_path / "work", trace=True, fence=True,
                  sanitize=board == "host")  # fmt: skip
    (result,) = execute(image, [array.tobytes() for array in inputs.values()], fence=fence_map(done.placed)).outputs
    (expected,) = outputs.values()
    assert np.allclose(np.frombuffer(result, np.float32), expected.reshape(-1), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("board", ["qemu_rv32imc", "qemu_mps2_an386"])
def test_more_than_the_report_promises_of_a_level_is_refused(
    board: str, tmp_path: Path, network: Callable[[str], Files]
) -> None:
    files = network("digits_int8")
    project = tmp_path / "project"
    done = compiled(files.model, board, "arena", project)
    inputs, _ = files.arrays()
    raw = [array.tobytes() for array in inputs.values()]
    image = build(project, done.artifacts.interface, load_target(board), tmp_path / "work", trace=True)
    touched = execute(image, raw, fence=fence_map(done.placed)).touched
    memory = done.report.memory
    ram, constants = memory["ram"].worst_case - (memory["ram"].stack or 0), memory["flash"].constants
    assert ram // 2 < touched["ram"] <= ram + image.sizes.ram_bytes - done.placed.arena_bytes
    assert constants // 2 < touched["flash"]
    keep_levels(memory, image, touched)
    for level, used in (("ram", ram), ("flash", constants + image.sizes.text_bytes)):
        with pytest.raises(FenceError, match=rf"touches [\d,]+ bytes of memory level '{level}': the report promises"):
            keep_levels(memory, image, {**touched, level: used + 4096})
    row = memory["ram"]
    if row.activations > row.scratch:
        promised = replace(row, worst_case=row.worst_case - row.activations, activations=0)
    else:
        promised = replace(row, worst_case=row.worst_case - row.scratch, scratch=0)
    less = {**memory, "ram": promised}
    with pytest.raises(FenceError, match="memory level 'ram'"):
        keep_levels(less, image, touched)


def test_a_layer_that_leaves_its_bytes_is_caught(tmp_path: Path, network: Callable[[str], Files]) -> None:
    files = network("digits")
    done = compiled(files.model, "qemu_mps2_an386", "arena", tmp_path / "project")
    source = tmp_path / "project/src/digits.c"
    head, run, body = source.read_text().partition("int digits_run(")
    last = f"digits_arena + {done.placed.arena_bytes - 4}"
    moved = re.sub(r"digits_arena \+ (\d+)", lambda _: last, body, count=1)
    source.write_text(head + run + moved)
    image = build(
        tmp_path / "project", done.artifacts.interface, load_target("qemu_mps2_an386"), tmp_path / "work", trace=True
    )
    (inputs, _) = files.arrays()
    with pytest.raises(FenceError, match=r"layer 0 'conv0' of 'digits' read .* that it did not declare"):
        execute(image, [array.tobytes() for array in inputs.values()], fence=fence_map(done.placed))
