"""N-EUREKA's kernels: drawn layers equal the operators' meaning, every trap of the unit, and which engine is taken."""

from __future__ import annotations

import re
import shutil
import stat
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from drawn_layers import Drawn, chain, draw, network
from numpy.typing import NDArray
from tilewright.cli import main
from tilewright.compile import Compiled, compile_model, write
from tilewright.errors import PlatformError, ToolMissing, UsageError
from tilewright.fitting import fitted
from tilewright.options import CompileOptions
from tilewright.plan.execute import run_slots
from tilewright.platforms.siracusa.kernels.conv_neureka import layer_of
from tilewright.report.page.render import render_page
from tilewright.run.build import build
from tilewright.run.simulate import execute
from tilewright.target import Target, load_target, missing_tools

HERE = Path(__file__).parent / "siracusa_here"
SIMPLE = Drawn("three", 13, 8, 29, 36, 1, (1, 1, 1, 1), 8, -7, False, 1)


def needs(board: Target) -> None:
    for tool, _ in missing_tools(board):
        pytest.skip(f"{tool} is not installed")


def compiled(
    layers: list[Drawn], folder: Path, board: Target, l1: int, engine: str = "neureka", *, chained: bool = False
) -> Compiled:
    source = (chain if chained else network)(layers, folder / "drawn.onnx")
    done = compile_model(source, CompileOptions(level_sizes={"l1": l1}, engine=engine), board)
    (folder / "project").mkdir()
    write(done, folder / "project")
    return done


def inputs_of(done: Compiled) -> list[NDArray[np.generic]]:
    rng = np.random.default_rng(3)
    tensors = [done.plan.slots[slot].tensor for slot in done.plan.input_slots]
    return [rng.integers(*t.dtype.range, t.shape, endpoint=True).astype(t.dtype.numpy) for t in tensors]


def wrong(done: Compiled, folder: Path, board: Target, flags: Sequence[str] = ()) -> list[str]:
    """Names of outputs that are not those of the semantics in NumPy."""
    image = build(folder / "project", done.artifacts.interface, board, folder / "work", extra_flags=flags)
    inputs = inputs_of(done)
    slots = run_slots(done.plan, inputs)
    outputs = execute(image, [array.tobytes() for array in inputs]).outputs
    expected = [slots[slot].tobytes() for slot in done.plan.output_slots]
    return [n for n, a, b in zip(done.plan.output_names, outputs, expected, strict=True) if a != b]


def engines(done: Compiled) -> set[str]:
    return {layer.engine for layer in done.report.layers if layer.op in ("Conv", "MatMul", "Gemm")}


@pytest.mark.parametrize(("kilobytes", "many"), [(128, 14), (64, 13), (32, 13)])
def test_drawn_layers_are_bit_equal(kilobytes: int, many: int, tmp_path: Path) -> None:
    board = load_target(str(HERE))
    needs(board)
    rng = np.random.default_rng(kilobytes)
    done = compiled([draw(rng, seed) for seed in range(many)], tmp_path, board, kilobytes * 1024)
    assert engines(done) == {"neureka"}
    assert done.report.memory["l1"].worst_case <= kilobytes * 1024
    assert done.report.memory["wmem"].constants == sum(done.plan.constants_apart.values()) > 0
    assert wrong(done, tmp_path, board) == []


def test_jobs_that_run_at_once_overwrite_nothing(tmp_path: Path) -> None:
    board = load_target(str(HERE))
    needs(board)
    done = compiled([replace(SIMPLE, rows=26, outs=70)], tmp_path, board, 64 * 1024)
    assert wrong(done, tmp_path, board) == []
    assert wrong(done, tmp_path, board, ("-DTW_NEUREKA_EARLY",)) == []


def test_two_columns_are_a_pixel_of_strided_layers_with_few_channels(tmp_path: Path) -> None:
    board = load_target(str(HERE))
    needs(board)
    strided = [
        replace(SIMPLE, rows=rows, columns=columns, ins=ins, outs=outs, stride=2, pads=pads, seed=rows)
        for rows, columns, ins, outs, pads in (
            (12, 14, 3, 8, (0, 0, 1, 1)), (13, 26, 14, 33, (1, 1, 1, 0)), (7, 12, 5, 4, (1, 0, 0, 1)),
            (12, 13, 3, 8, (1, 1, 1, 1)), (9, 16, 40, 5, (0, 1, 0, 0)), (8, 8, 33, 1, (0, 0, 0, 0)),
            (6, 9, 3, 4, (0, 1, 0, 0)),
        )
    ]  # fmt: skip
    done = compiled(strided, tmp_path, board, 64 * 1024)
    taken = [i.call for i in done.plan.instructions if i.kernel.gives_jobs]
    assert {call.node.name for call in taken if not layer_of(call).pairs} == {"layer3", "layer5"}
    assert wrong(done, tmp_path, board) == []


def test_jobs_of_the_next_layer_are_written_ahead(tmp_path: Path) -> None:
    board = load_target(str(HERE))
    needs(board)
    small = replace(SIMPLE, rows=6)  # two layers of two jobs, two of one
    layers = [
        replace(small, ins=8, outs=40),
        replace(small, kind="apart", ins=40, outs=40, seed=2),
        replace(small, kind="one", ins=40, outs=33, pads=(0, 0, 0, 0), seed=3),
        replace(small, ins=33, outs=9, seed=4),
    ]
    done = compiled(layers, tmp_path, board, 128 * 1024, chained=True)
    assert 4 in [len(i.schedule.stages) for i in done.plan.instructions if i.schedule is not None]
    assert wrong(done, tmp_path, board) == []
    assert wrong(done, tmp_path, board, ("-DTW_NEUREKA_EARLY",)) == []
    ((told, cycles),) = (
        (layer.timeline, layer.modelled_cycles)
        for layer in done.report.layers
        if layer.timeline is not None and layer.timeline.engine
    )
    assert cycles is not None
    assert "jobs of neureka, whose results the cores finish" in render_page(done.report)
    jobs = list(zip(told.engine[::2], told.engine[1::2], strict=True))
    codes = list(zip(told.cores[::2], told.cores[1::2], strict=True))
    assert sum(end - start for start, end in jobs) > 0
    assert all(start <= end <= cycles for start, end in (*jobs, *codes))
    assert all(a[1] <= b[0] for a, b in pairwise(jobs)), "the engine computes one job at a time"
    assert min(start for start, _ in codes) >= jobs[0][1], "codes are made of a job that is done"
    assert any(a[0] < b[1] and b[0] < a[1] for a in jobs for b in codes), "both work at once"


def test_the_cluster_of_qemu_gives_jobs_behind_its_fences(tmp_path: Path) -> None:
    board = load_target("qemu_siracusa")
    needs(board)
    layers = [
        SIMPLE,
        replace(SIMPLE, kind="apart", ins=33, outs=33, stride=2),
        replace(SIMPLE, kind="one", pads=(0, 0, 0, 0)),
    ]
    done = compiled(layers, tmp_path, board, 32 * 1024)
    assert engines(done) == {"neureka"}
    assert wrong(done, tmp_path, board) == []


def test_the_faster_engine_is_taken_unless_one_is_named(tmp_path: Path) -> None:
    board = load_target("qemu_siracusa")
    taken = {}
    for engine in ("auto", "neureka", "cores"):
        (tmp_path / engine).mkdir()
        layers = [SIMPLE, Drawn("dense", 1, 1, 12, 4, 1, (0, 0, 0, 0), 8, 0, False, 2)]
        done = compiled(layers, tmp_path / engine, board, 64 * 1024, engine)
        taken[engine] = {layer.op: layer.engine for layer in done.report.layers if layer.macs}
    assert taken["auto"] == {"Conv": "neureka", "MatMul": "cores"}
    assert set(taken["neureka"].values()) == {"neureka"}
    assert set(taken["cores"].values()) == {"cores"}
    with pytest.raises(UsageError, match=r"--engine npu.*has no engine of that name.*it has cores, neureka"):
        compiled([SIMPLE], tmp_path, board, 64 * 1024, "npu")


@pytest.mark.parametrize(("level", "why"), [("nowhere", "free levels are wmem"), ("l1", "the network lies there")])
def test_weights_in_a_level_that_nobody_counts_are_refused(
    level: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    board = load_target("qemu_siracusa")
    monkeypatch.setattr("tilewright.platforms.siracusa.kernels.jobs.WEIGHTS", level)
    with pytest.raises(PlatformError, match=f"constant 'w' of node 'layer0' rests in level '{level}'.*{why}"):
        compiled([SIMPLE], tmp_path, board, 64 * 1024)


def test_what_each_engine_would_take_and_why_not_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = network([SIMPLE, replace(SIMPLE, pads=(0, 0, 2, 0))], tmp_path / "two.onnx")
    words = ["compile", str(source), "-t", "qemu_siracusa", "-o", str(tmp_path / "out")]
    assert main([*words, "--explain"]) == 0
    told = capsys.readouterr().out
    assert "NeurekaConvI8 of siracusa on neureka" in told
    assert "cycles in tiles on neureka" in told
    assert "cycles in tiles on cores" in told
    assert re.search(r"cycles in tiles on neureka: its jobs [\d,]+, the cores beside them [\d,]+", told)
    assert re.search(r"parted between both: [\d.]+% of it on the cores would save [\d,]+ cycles at best", told)
    assert "the padding is wider than the accelerator's, one row or column of a 3x3 window" in told
    assert main([*words, "--explain", "--engine", "cores"]) == 0
    assert "NeurekaConvI8 of siracusa: --engine cores leaves its engine out" in capsys.readouterr().out


def test_a_simulator_without_the_unit_is_told_what_to_build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    board = load_target("gvsoc_siracusa")
    if shutil.which("riscv64-unknown-elf-gcc") is None:
        pytest.skip("riscv64-unknown-elf-gcc is not installed")
    done = compiled([SIMPLE], tmp_path, board, 64 * 1024)
    image = build(tmp_path / "project", done.artifacts.interface, board, tmp_path / "work")
    (tmp_path / "bin").mkdir()
    script = tmp_path / "bin" / "gvsoc"
    script.write_text('#!/bin/sh\necho "Couldn\'t find component (name: pulp/neureka/neureka)" >&2\nexit 1\n')
    script.chmod(script.stat().st_mode | stat.S_IEXEC)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=":")
    inputs = [array.tobytes() for array in inputs_of(done)]
    with pytest.raises(ToolMissing, match=r"lacks the model of pulp/neureka/neureka.*TARGETS=.*libxtensor-dev") as told:
        execute(image, inputs)
    assert told.value.code == 6


@pytest.mark.sim("gvsoc")
@pytest.mark.parametrize("kilobytes", [128, 32])
def test_drawn_layers_in_gvsoc(kilobytes: int, tmp_path: Path) -> None:
    board = load_target("gvsoc_siracusa")
    needs(board)
    rng = np.random.default_rng(kilobytes)
    done = compiled([draw(rng, seed) for seed in range(20)], tmp_path, board, kilobytes * 1024)
    assert engines(done) == {"neureka"}
    try:
        assert wrong(done, tmp_path, board) == []
    except ToolMissing as error:
        pytest.skip(str(error))


def test_weights_of_the_engine_are_no_code(tmp_path: Path) -> None:
    target = load_target("qemu_siracusa")
    needs(target)
    source = network([SIMPLE], tmp_path / "drawn.onnx")
    report = fitted(source, CompileOptions(engine="neureka", measure=True), target).report
    told = fitted(source, CompileOptions(engine="cores", measure=True), target).report
    weights, code, usual = report.memory["wmem"].constants, report.memory["l2"].code, told.memory["l2"].code
    assert code is not None
    assert usual is not None
    assert weights > 1000
    assert code < usual + weights // 2
