"""Programs over a `torch.nn.Module`: what freezing, buffers and files do to it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tilewright.compile import compile_model, compiler
from tilewright.errors import UsageError
from tilewright.options import CompileOptions
from tilewright.plan.execute import run
from tilewright.program.compiler import ProgramCompiler
from tilewright.program.deploy import with_program
from tilewright.program.modules import export_onnx, schema_of
from tilewright.program.schema import Connection, Schema, schema_from
from tilewright.safetensors import loads
from tilewright.target import load_target

torch: Any = pytest.importorskip("torch", reason="torch is not installed")


def network() -> Any:
    """Three regions; two layers of the middle one have weights of the same name."""
    torch.manual_seed(3)
    module = torch.nn.Module()
    module.eyes = torch.nn.Linear(4, 8)
    module.table = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.BatchNorm1d(8), torch.nn.Linear(8, 8))
    module.past = torch.nn.Linear(8, 2)
    module.regions = {"eyes": module.eyes, "table": module.table, "past/long ago": module.past}
    return module.eval()


def computed(module: Any) -> Any:
    return module.past(module.table(module.eyes(torch.ones(2, 4))))


def program(module: Any) -> Schema:
    return schema_of(module, {"eyes": "freeze", "table": "constant", "past/long ago": "export"})


def test_every_mode_is_carried_out_and_the_outputs_stay(tmp_path: Path) -> None:
    module = network()
    before = computed(module)
    state = {name: value.numpy().copy() for name, value in module.past.state_dict().items()}
    compiled = ProgramCompiler(program(module)).compile(module, tmp_path / "out")
    assert torch.equal(computed(module), before)
    assert not any(p.requires_grad for p in module.eyes.parameters())
    assert list(module.table.parameters()) == []
    assert not any(p.requires_grad for p in module.past.parameters())
    assert compiled.n_eliminated == 2
    path = Path(compiled.exported_paths["past/long ago"])
    assert path.parent == tmp_path / "out"
    assert path.name == "past%2Flong%20ago.safetensors"
    stored = loads(path.read_bytes(), path.name)
    assert stored.metadata == {"region": "past/long ago", "family": ""}
    for name, value in state.items():
        np.testing.assert_array_equal(stored.arrays[name], value)
    manifest = json.loads(path.with_name(path.name + ".json").read_text())
    assert manifest["tensors"] == ["bias", "weight"]
    assert str(path) in compiled.summary()


def test_keys_of_buffers_do_not_collide_and_buffers_are_captured_too(tmp_path: Path) -> None:
    module = network()
    weights = [module.table[i].weight.detach().clone() for i in (0, 2)]
    buffers = ProgramCompiler(program(module)).compile(module, tmp_path).constant_buffers
    assert {"table/0.weight", "table/2.weight", "table/1.running_mean", "table/1.running_var"} <= set(buffers)
    assert torch.equal(buffers["table/0.weight"], weights[0])
    assert torch.equal(buffers["table/2.weight"], weights[1])


def test_a_region_that_the_module_lacks_changes_and_writes_nothing(tmp_path: Path) -> None:
    module = network()
    schema = schema_from({"regions": {"eyes": {"compile_mode": "freeze"}, "nose": {"compile_mode": "export"}}})
    with pytest.raises(UsageError, match=r"unknown region 'nose': the module's regions are eyes, table, past"):
        ProgramCompiler(schema).compile(module, tmp_path / "out")
    assert all(p.requires_grad for p in module.eyes.parameters())
    assert not (tmp_path / "out").exists()


def test_regions_are_found_as_attributes_too_and_the_folder_has_a_default(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    module = torch.nn.Module()
    module.head = torch.nn.Linear(2, 2)
    compiled = ProgramCompiler(schema_from({"regions": {"head": {"family": "memory"}}})).compile(module)
    assert compiled.exported_paths == {"head": str(Path("tilewright_exports") / "head.safetensors")}
    assert (tmp_path / "tilewright_exports" / "head.safetensors").is_file()


def test_modes_for_regions_that_are_not_there_are_refused() -> None:
    with pytest.raises(UsageError, match="unknown region 'ears'"):
        schema_of(network(), {"ears": "freeze"})
    with pytest.raises(UsageError, match="the module has no regions"):
        schema_of(torch.nn.Identity())


def test_a_runtime_region_still_trains() -> None:
    module = network()
    schema = Schema(schema_of(module).regions, (Connection("eyes", "table"),))
    compiled = ProgramCompiler(schema).compile(module)
    assert all(p.requires_grad for p in module.parameters())
    assert compiled.active_connections == schema.connections


def test_a_module_goes_through_onnx_into_the_deployer(tmp_path: Path) -> None:
    layers = torch.nn.Sequential()
    layers.add_module("eyes", torch.nn.Conv2d(1, 4, 3))
    layers.add_module("table", torch.nn.Sequential(torch.nn.ReLU(), torch.nn.Flatten()))
    layers.add_module("past", torch.nn.Linear(16, 2))
    layers.regions = {"eyes": layers.eyes, "past": layers.past}
    x = torch.linspace(-1, 1, 16).reshape(1, 1, 4, 4)
    schema = schema_of(layers, {"eyes": "constant", "past": "export"})
    compiled = ProgramCompiler(schema).compile(layers, tmp_path)
    expected = layers(x).detach().numpy()
    placed = export_onnx(layers, (x,), tmp_path / "net.onnx", compiled.original)
    assert [region.nodes for region in placed.regions] == [("/eyes/",), ("/past/",)]
    pipeline = with_program(compiler, placed)
    found = compile_model(tmp_path / "net.onnx", CompileOptions(), load_target("host"), pipeline=pipeline)
    assert list(found.artifacts.blobs) == ["weights/past.bin"]
    assert found.artifacts.constant_bytes == 4 * (36 + 4)
    (actual,) = run(found.plan, [x.numpy()])
    np.testing.assert_allclose(actual, expected, rtol=1e-5, atol=1e-6)
