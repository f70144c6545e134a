"""Weights in a third memory: kept in L1 or L2, or streamed, and copied once where they stay."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

import numpy as np
import pytest
from tilewright.cli import main
from tilewright.compile import compile_model
from tilewright.model import DType, Node, Tensor
from tilewright.options import CompileOptions
from tilewright.platform import Call
from tilewright.platforms.pulp.kernels.code_product import TiledCodeProduct
from tilewright.target import load_target, missing_tools


class Files(Protocol):
    """What the fixture `trained` finds."""

    @property
    def model(self) -> Path: ...


SMALL = {"l1": 16 * 1024, "l2": 96 * 1024}


def test_where_weights_are_is_chosen_by_layer(trained: Callable[[str], Files]) -> None:
    done = compile_model(trained("resnet8_int8").model, CompileOptions(level_sizes=SMALL), load_target("qemu_pulp_l3"))
    places = {(frozen.home or "l3", frozen.streamed) for frozen in done.plan.frozen_slots}
    assert {("l1", False), ("l2", False), ("l2", True)} <= places
    assert done.placed.arena_bytes < SMALL["l2"]


def test_a_network_larger_than_l2_runs_bit_equal(tmp_path: Path, trained: Callable[[str], Files]) -> None:
    for tool, _ in missing_tools(load_target("qemu_pulp_l3")):
        pytest.skip(f"{tool} is not installed")
    told = tmp_path / "report.json"
    words = ["run", str(trained("resnet8_int8").model), "-t", "qemu_pulp_l3", "--set", "l1=16K", "--set", "l2=112K"]
    assert main([*words, "--json", str(told), "-q"]) == 0
    report = json.loads(told.read_text())
    assert report["run"]["match"] is True
    assert "hardware" in report["run"]["fences"]
    assert report["memory"]["l3"]["constants"] > 64 * 1024
    assert report["memory"]["l2"]["total"] <= 112 * 1024


def test_the_first_tile_waits_for_streamed_constants(tmp_path: Path, trained: Callable[[str], Files]) -> None:
    for tool, _ in missing_tools(load_target("qemu_pulp_l3")):
        pytest.skip(f"{tool} is not installed")
    told = tmp_path / "report.json"
    words = ["run", str(trained("resnet8_int8").model), "-t", "qemu_pulp_l3", "--set", "l1=16K", "--set", "l2=112K"]
    assert main([*words, "--profile", "--json", str(told), "-q"]) == 0
    layers = [layer for layer in json.loads(told.read_text())["layers"] if layer["profile"]]
    streamed = [layer for layer in layers if "l3>l2" in layer["copied_bytes"]]
    assert streamed
    assert len(streamed) < len(layers)
    for layer in layers:
        waits = [tile["modelled"]["wait"] for tile in layer["profile"]]
        kernels = [tile["modelled"]["kernel"] for tile in layer["profile"]]
        assert abs(sum(waits) + sum(kernels) - layer["modelled_cycles"]) <= layer["tiles"]
    for layer in streamed:
        first, *others = layer["profile"]
        size = layer["copied_bytes"]["l3>l2"]
        assert first["copied_bytes"]["l3>l2"] == size
        assert first["modelled"]["wait"] >= size + 200
        assert not any("l3>l2" in tile["copied_bytes"] for tile in others)


def test_copies_of_constants_are_named_in_the_memory_map(trained: Callable[[str], Files]) -> None:
    done = compile_model(trained("resnet8_int8").model, CompileOptions(level_sizes=SMALL), load_target("qemu_pulp_l3"))
    row = done.report.memory["l2"]
    kinds = {kind: [b for b in row.buffers if b.kind == kind] for kind in ("constant", "copy_buffer")}
    kept = [f for f in done.plan.frozen_slots if f.home == "l2" and not f.streamed]
    streamed = [f for f in done.plan.frozen_slots if f.streamed]
    assert (len(kinds["constant"]), len(kinds["copy_buffer"])) == (len(kept), len(streamed))
    assert row.constants == sum(f.constant.size_bytes for f in kept)
    assert row.padding < 1024
    last = len(done.plan.instructions) - 1
    assert {(b.first, b.last) for b in kinds["constant"]} == {(0, last)}
    assert all(b.offset + b.size <= done.placed.arena_bytes for b in row.buffers)


def test_pinned_constants_are_loaded_once(tmp_path: Path) -> None:
    model = Path(__file__).parents[1] / "models" / "digits_int8" / "model.onnx"
    assert main(["compile", str(model), "-t", "qemu_pulp", "-o", str(tmp_path / "out"), "-q"]) == 0
    done = compile_model(model, CompileOptions(), load_target("qemu_pulp"))
    pinned = [
        operand
        for i in done.plan.instructions
        if i.schedule is not None
        for stage in i.schedule.stages
        for operand in stage.operands
        if operand.kind == "constant" and i.schedule.resident(operand)
    ]
    text = (tmp_path / "out" / "src" / f"{done.plan.name}.c").read_text()
    assert ("_keep(unsigned char *arena)" in text) == bool(pinned)
    assert text.count("settled == arena") == (1 if pinned else 0)


@pytest.mark.parametrize(("outputs", "why"), [(256, None), (257, "its weights take more than 65536 B, they are read")])
def test_large_tables_of_coded_products_are_read_where_they_rest(outputs: int, why: str | None) -> None:
    def tensor(shape: tuple[int, ...], dtype: DType = DType.I8) -> Tensor:
        return Tensor("t", dtype, shape)

    operands = (tensor((1, 1, 256)), tensor((1, 1, 1), DType.F32), tensor((outputs, 256)), tensor((outputs, 1)))
    node = Node("n", "CodeProduct", ("x", "most", "w", "factors"), ("y",), {"block": 256})
    constants = {2: np.zeros((outputs, 256), np.int8), 3: np.zeros((outputs, 1), np.int8)}
    results = (tensor((1, 1, outputs), DType.F32),)
    refused = TiledCodeProduct().accepts(Call(node, operands, results, constants, operator=None))
    assert refused is None if why is None else str(refused).startswith(why)
