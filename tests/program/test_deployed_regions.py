"""Regions of an ONNX network decide where its weights lie; blobs are loaded, and refused, where the code runs."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
import tilewright
from conftest import NetworkFiles
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from tilewright.cli import main
from tilewright.compile import Compiled, write
from tilewright.errors import TilewrightError, UsageError
from tilewright.frontend.load import load
from tilewright.program.network import assign, connected
from tilewright.program.schema import Connection, schema_from
from tilewright.run.build import build
from tilewright.run.image import Image
from tilewright.run.simulate import execute

NO_WEIGHTS, TOO_SHORT, DAMAGED, OTHER_MODEL = 4, 5, 6, 8
HEAD = {"head": {"nodes": ["dense"], "compile_mode": "export"}}


def program(folder: Path, regions: Mapping[str, object]) -> Path:
    path = folder / "regions.json"
    path.write_text(json.dumps({"regions": regions}))
    return path


def compiled(model: Path, regions: Path, target: str) -> Compiled:
    options = tilewright.CompileOptions(program=regions)
    return tilewright.compile_model(model, options, tilewright.load_target(target))


def image_of(found: Compiled, folder: Path, target: str) -> Image:
    folder.mkdir()
    write(found, folder)
    return build(folder, found.artifacts.interface, tilewright.load_target(target), folder / "build")


def outputs(image: Image, files: NetworkFiles) -> NDArray[Any]:
    inputs, _ = files.arrays()
    return np.frombuffer(execute(image, [a.tobytes() for a in inputs.values()]).outputs[0], np.float32)


def recorded(files: NetworkFiles) -> NDArray[Any]:
    _, expected = files.arrays()
    return next(iter(expected.values())).reshape(-1)


def error_of(image: Image, files: NetworkFiles) -> int:
    with pytest.raises(TilewrightError, match=r"returned the error \d+") as caught:
        outputs(image, files)
    return int(str(caught.value).split("the error ")[1].split(":")[0])


@pytest.mark.sim("qemu")
@pytest.mark.parametrize("target", ["qemu_rv32imc", "qemu_mps2_an386"])
def test_an_exported_region_is_loaded_at_run_time_and_what_is_wrong_is_refused(
    target: str, network: Callable[[str], NetworkFiles], tmp_path: Path
) -> None:
    files = network("digits_int8")
    found = compiled(files.model, program(tmp_path, HEAD), target)
    image = image_of(found, tmp_path / "out", target)
    blob = image.work / "blob_0.bin"
    whole = blob.read_bytes()
    assert whole == found.artifacts.blobs["weights/head.bin"]
    np.testing.assert_array_equal(outputs(image, files), recorded(files))
    other = program(tmp_path, {"stem": {"nodes": ["conv6"], "compile_mode": "export"}})
    foreign = compiled(files.model, other, target).artifacts.blobs["weights/stem.bin"]
    wrong = {
        "flipped in the head": (whole[:9] + bytes([whole[9] ^ 1]) + whole[10:], DAMAGED),
        "flipped in the weights": (whole[:-40] + bytes([whole[-40] ^ 128]) + whole[-39:], DAMAGED),
        "short": (whole[:-1], TOO_SHORT),
        "of another model": (foreign.ljust(len(whole), b"\0"), OTHER_MODEL),
    }
    codes = {}
    for name, (data, _) in wrong.items():
        blob.write_bytes(data)
        codes[name] = error_of(image, files)
    assert codes == {name: code for name, (_, code) in wrong.items()}
    blob.unlink()
    assert error_of(image, files) == NO_WEIGHTS


MAIN = """
#include "digits_int8.h"
#include <stdio.h>
#include <string.h>
static unsigned char blob[DIGITS_INT8_BLOB_0_BYTES + 16] __attribute__((aligned(DIGITS_INT8_BLOB_ALIGN)));
int main(void)
{
    float first[10];
    size_t i, count = fread(blob, 1, DIGITS_INT8_BLOB_0_BYTES, stdin);
    int wrong = 0;
    printf("%d ", digits_int8_load_weights(blob, count));
    memset(digits_int8_input_0(), 0, DIGITS_INT8_INPUT_0_BYTES);
    wrong += digits_int8_run();
    memcpy(first, digits_int8_output_0(), sizeof first);
    for (i = 0; i < count; i++) {
        blob[i] ^= 4;
        wrong += digits_int8_load_weights(blob, count) != DIGITS_INT8_ERROR_WEIGHTS_DAMAGED;
        blob[i] ^= 4;
        wrong += i < 32 ? digits_int8_load_weights(blob, i) != DIGITS_INT8_ERROR_WEIGHTS_TOO_SHORT : 0;
    }
    wrong += digits_int8_load_weights(NULL, count) != DIGITS_INT8_ERROR_WEIGHTS_TOO_SHORT;
    memmove(blob + 4, blob, count);
    wrong += digits_int8_load_weights(blob + 4, count) != DIGITS_INT8_ERROR_WEIGHTS_MISALIGNED;
    memmove(blob, blob + 4, count);
    memset(digits_int8_input_0(), 0, DIGITS_INT8_INPUT_0_BYTES);
    wrong += digits_int8_run();
    wrong += memcmp(first, digits_int8_output_0(), sizeof first) != 0;
    printf("%d\\n", wrong);
    return 0;
}
"""


def test_no_flipped_byte_passes_and_nothing_is_written_by_a_refusal(
    network: Callable[[str], NetworkFiles], tmp_path: Path
) -> None:
    import subprocess

    for mode in ("export", "runtime"):
        folder = tmp_path / mode
        folder.mkdir()
        regions = program(folder, {"head": {"nodes": ["dense"], "compile_mode": mode}})
        write(compiled(network("digits_int8").model, regions, "host"), folder)
        (folder / "main.c").write_text(MAIN)
        sources = [*(folder / "src").glob("*.c"), folder / "main.c"]
        flags = ["-std=c99", "-O1", "-Wall", "-Wextra", "-Wconversion", "-Wpedantic", "-Wshadow", "-Werror"]
        command = ["gcc", *flags, f"-I{folder / 'src'}", *map(str, sources), "-lm", "-o", str(folder / "program")]
        subprocess.run(command, check=True)
        data = (folder / "weights" / "head.bin").read_bytes()
        done = subprocess.run([folder / "program"], input=data, capture_output=True, check=True)
        assert done.stdout.split() == [b"0", b"0"]


def test_every_region_has_its_place_and_the_report_counts_it(
    network: Callable[[str], NetworkFiles], tmp_path: Path
) -> None:
    files = network("digits_int8")
    plain = tilewright.compile_model(files.model, tilewright.CompileOptions(), tilewright.load_target("host"))
    regions = {
        "stem": {"nodes": ["conv0"], "compile_mode": "freeze"},
        "middle": {"nodes": ["conv"], "compile_mode": "runtime"},
        "head": {"nodes": ["dense"], "family": "memory"},
    }
    found = compiled(files.model, program(tmp_path, regions), "host")
    assert set(found.artifacts.blobs) == {"weights/middle.bin", "weights/head.bin"}
    in_ram, level = found.artifacts.runtime_bytes, found.placed.level
    assert in_ram > 0
    assert found.report.memory[level].worst_case == plain.report.memory[level].worst_case + in_ram
    assert found.report.memory[level].constants == in_ram
    shipped = sum(len(b) for b in found.artifacts.blobs.values())
    assert plain.artifacts.constant_bytes > found.artifacts.constant_bytes > 0
    assert found.artifacts.constant_bytes + shipped >= plain.artifacts.constant_bytes
    image = image_of(found, tmp_path / "out", "host")
    np.testing.assert_array_equal(outputs(image, files), recorded(files))
    (image.work / "blob_0.bin").unlink()  # weights in RAM begin with what they were compiled with
    np.testing.assert_array_equal(outputs(image, files), recorded(files))


@pytest.mark.parametrize("mode", ["runtime", "export"])
def test_weights_of_a_retrained_model_are_taken_by_firmware_that_is_there(
    mode: str, network: Callable[[str], NetworkFiles], tmp_path: Path
) -> None:
    files = network("digits")
    regions = program(tmp_path, {"head": {"nodes": ["dense"], "compile_mode": mode}})
    image = image_of(compiled(files.model, regions, "host"), tmp_path / "out", "host")
    before = outputs(image, files)
    trained = onnx.load(files.model)
    for tensor in trained.graph.initializer:
        if 10 in tensor.dims:
            tensor.CopyFrom(numpy_helper.from_array(-numpy_helper.to_array(tensor), tensor.name))
    (tmp_path / "digits").mkdir()
    model = tmp_path / "digits" / "model.onnx"
    onnx.save(trained, model)
    again = compiled(model, regions, "host")
    (image.work / "blob_0.bin").write_bytes(again.artifacts.blobs["weights/head.bin"])
    after = outputs(image, files)
    assert not np.allclose(before, after)
    fresh = image_of(again, tmp_path / "fresh", "host")
    np.testing.assert_array_equal(after, outputs(fresh, files))


def constant_table(folder: Path) -> Path:
    """A table made by two nodes from a constant, added to the input."""
    value = numpy_helper.from_array(np.arange(4, dtype=np.float32), "raw")
    nodes = [
        helper.make_node("Mul", ["raw", "raw"], ["squared"], "table/square"),
        helper.make_node("Sqrt", ["squared"], ["table"], "table/root"),
        helper.make_node("Add", ["x", "table"], ["y"], "sum"),
    ]
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [4]) for name in "xy")
    path = folder / "table.onnx"
    graph = helper.make_graph(nodes, "g", [x], [y], [value])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), path)
    return path


def test_a_constant_region_must_have_become_a_value(tmp_path: Path) -> None:
    model = constant_table(tmp_path)
    folded = compiled(model, program(tmp_path, {"table": {"nodes": ["table/"], "compile_mode": "constant"}}), "host")
    assert [i.name for i in folded.plan.instructions] == ["sum"]
    with pytest.raises(UsageError, match=r"region 'all' is to be constant, node 'sum' computes .*: it reads 'x'"):
        compiled(model, program(tmp_path, {"all": {"nodes": ["table/", "sum"], "compile_mode": "constant"}}), "host")


def test_prefixes_that_fit_nothing_or_tie_are_refused(network: Callable[[str], NetworkFiles], tmp_path: Path) -> None:
    model = network("digits_int8").model
    with pytest.raises(UsageError, match="no node's name begins with 'nothing'"):
        compiled(model, program(tmp_path, {"a": {"nodes": ["nothing"]}}), "host")
    with pytest.raises(UsageError, match="belongs to the regions"):
        compiled(model, program(tmp_path, {"a": {"nodes": ["conv"]}, "b": {"nodes": ["conv"]}}), "host")
    with pytest.raises(UsageError, match="region 'a' has no weights"):
        compiled(model, program(tmp_path, {"a": {"nodes": ["pool"], "compile_mode": "export"}}), "host")
    with pytest.raises(UsageError, match="region 'a' has no nodes"):
        compiled(model, program(tmp_path, {"a": {}}), "host")


def test_connections_are_read_from_the_network(network: Callable[[str], NetworkFiles]) -> None:
    model = load(network("digits").model, shapes={}, frozen={}, name="digits")
    names = [node.name for node in model.nodes]
    schema = schema_from({"regions": {"front": {"nodes": names[:3]}, "back": {"nodes": names[3:]}}})
    assert set(assign(names, schema).values()) == {"front", "back"}
    assert connected(model, schema).connections == (Connection("front", "back"),)


def test_the_command_line_takes_a_program(
    network: Callable[[str], NetworkFiles], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    regions = program(tmp_path, HEAD)
    model = str(network("digits_int8").model)
    assert main(["compile", model, "-t", "host", "-o", str(tmp_path / "out"), "--program", str(regions)]) == 0
    assert (tmp_path / "out" / "weights" / "head.bin").is_file()
    assert main(["compile", model, "-t", "host", "-o", str(tmp_path / "out"), "--program", "nowhere.json"]) == 2
    assert "nowhere.json" in capsys.readouterr().err
