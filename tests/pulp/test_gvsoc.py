"""Networks in GVSoC: bit-equal to the operators' meaning, and cycles of layers, kernels, copies and waits."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

import numpy as np
import pytest
from tilewright.compile import Compiled, compile_model, write
from tilewright.errors import ToolMissing
from tilewright.options import CompileOptions
from tilewright.plan.execute import run_slots
from tilewright.run.build import build
from tilewright.run.simulate import Execution, execute
from tilewright.target import load_target, missing_tools, with_sizes

NETWORKS = ("ad_int8", "dscnn_int8", "resnet8_int8", "vww_int8")
BOARDS = ("gvsoc_pulp_open", "gvsoc_siracusa")


class Files(Protocol):
    """What the fixture `trained` finds."""

    @property
    def model(self) -> Path: ...


def needs(board: str) -> None:
    for tool, _ in missing_tools(load_target(board)):
        pytest.skip(f"{tool} is not installed")


def run(
    source: Path, board: str, l1: int, work: Path, *, profile: bool = False, codes: bool = False,
    without: frozenset[str] = frozenset(),
) -> tuple[Compiled, Execution, bool]:  # fmt: skip
    """One inference with `l1` bytes of L1, counted, and whether its outputs are those of the semantics in NumPy.

    With `codes` inputs and outputs are integers, so that nothing computes in floats.
    """
    needs(board)
    target = load_target(board)
    options = CompileOptions(level_sizes={"l1": l1}, quantized_io=codes, disabled_passes=without)
    done = compile_model(source, options, target)
    (work / "project").mkdir()
    write(done, work / "project")
    sized = with_sizes(target, done.request.levels)
    image = build(work / "project", done.artifacts.interface, sized, work / "work", trace=profile)
    rng = np.random.default_rng(7)
    tensors = [done.plan.slots[slot].tensor for slot in done.plan.input_slots]
    inputs = [rng.integers(*t.dtype.range, t.shape, endpoint=True).astype(t.dtype.numpy) for t in tensors]
    slots = run_slots(done.plan, inputs)
    answer = execute(image, [array.tobytes() for array in inputs], count=True)
    return done, answer, list(answer.outputs) == [slots[slot].tobytes() for slot in done.plan.output_slots]


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("kilobytes", [64, 32, 16, 8])
def test_networks_are_bit_equal(name: str, kilobytes: int, tmp_path: Path, trained: Callable[[str], Files]) -> None:
    _, answer, equal = run(trained(name).model, BOARDS[0], kilobytes * 1024, tmp_path)
    assert equal
    assert answer.cycles


def test_the_same_code_runs_on_the_other_chip(tmp_path: Path, trained: Callable[[str], Files]) -> None:
    _, answer, equal = run(trained("resnet8_int8").model, BOARDS[1], 128 * 1024, tmp_path)
    assert equal
    assert answer.cycles


def test_resnet_8_makes_more_than_ten_products_a_cycle(tmp_path: Path, trained: Callable[[str], Files]) -> None:
    done, answer, equal = run(trained("resnet8_int8").model, BOARDS[0], 64 * 1024, tmp_path)
    assert equal
    assert answer.cycles is not None
    assert done.report.model.macs / answer.cycles > 12


@pytest.mark.parametrize("name", ["ad_int8", "resnet8_int8"])
@pytest.mark.parametrize("kilobytes", [55, 32])
def test_second_buffers_are_no_slower_than_the_best_single_ones(
    name: str, kilobytes: int, tmp_path: Path, trained: Callable[[str], Files]
) -> None:
    cycles, modelled, doubles = [], [], []
    for without in (frozenset({"double_buffering"}), frozenset[str]()):
        work = tmp_path / f"without{len(without)}"
        work.mkdir()
        done, answer, equal = run(trained(name).model, BOARDS[0], kilobytes * 1024, work, codes=True, without=without)
        assert equal
        assert answer.cycles is not None
        schedules = [i.schedule for i in done.plan.instructions if i.schedule is not None]
        cycles.append(answer.cycles)
        modelled.append(sum(schedule.cycles for schedule in schedules))
        doubles.append(sum(schedule.double for schedule in schedules))
    assert doubles[0] == 0 < doubles[1]
    assert cycles[1] < cycles[0]
    assert modelled[1] < modelled[0]


def test_a_convolution_makes_more_than_twenty_products_a_cycle(monkeypatch: pytest.MonkeyPatch) -> None:
    needs(BOARDS[0])
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "ci"))
    import benchmarks.pulp_layer as layer

    large, small = layer.measure(64), layer.measure(24)
    assert large.equal
    assert small.equal
    assert layer.PRODUCTS / large.kernel_cycles > 20
    assert layer.PRODUCTS / large.streamed_cycles > 19.5
    assert layer.PRODUCTS / small.streamed_cycles > 19


def test_spans_lie_inside_their_layer(tmp_path: Path, trained: Callable[[str], Files]) -> None:
    done, answer, equal = run(trained("dscnn_int8").model, BOARDS[0], 32 * 1024, tmp_path, profile=True)
    assert equal
    layers = {span.instruction: span for span in answer.spans if span.kind == "layer"}
    assert set(layers) <= {instruction.index for instruction in done.plan.instructions}
    for span in answer.spans:
        whole = layers[span.instruction]
        assert whole.first <= span.first
        assert span.first + span.cycles <= whole.first + whole.cycles
    tiled = [i for i in done.plan.instructions if i.schedule is not None]
    for instruction in tiled:
        assert instruction.schedule is not None
        spans = [span for span in answer.spans if span.instruction == instruction.index and span.kind == "kernel"]
        assert len(spans) >= instruction.schedule.tiles


@pytest.mark.parametrize("board", BOARDS)
def test_a_missing_simulator_is_named_with_the_place_that_has_it(
    board: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, trained: Callable[[str], Files]
) -> None:
    if shutil.which("riscv64-unknown-elf-gcc") is None:
        pytest.skip("riscv64-unknown-elf-gcc is not installed")
    target = load_target(board)
    done = compile_model(trained("ad_int8").model, CompileOptions(), target)
    write(done, tmp_path)
    image = build(tmp_path, done.artifacts.interface, target, tmp_path / "work")
    monkeypatch.setenv("PATH", "/nowhere")
    inputs = [bytes(size) for size in image.interface.inputs]
    with pytest.raises(ToolMissing, match=r"gvsoc is not installed.*published at https://github.com/gvsoc") as refused:
        execute(image, inputs)
    assert refused.value.code == 6


def test_more_l1_is_never_slower(tmp_path: Path, trained: Callable[[str], Files]) -> None:
    cycles = []
    for kilobytes in (32, 64):
        (tmp_path / str(kilobytes)).mkdir()
        source = trained("vww_int8").model
        _, answer, equal = run(source, BOARDS[0], kilobytes * 1024, tmp_path / str(kilobytes), codes=True)
        assert equal
        assert answer.cycles is not None
        cycles.append(answer.cycles)
    assert cycles[1] < cycles[0]
