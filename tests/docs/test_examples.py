"""What the documentation prints works: its plug-in is built from the pages and runs; its links lead somewhere."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from tilewright.numerics import Channelwise, MultiplyHigh
from tilewright.platform import DType

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r'^```\w+ title="([^"]+)"\n(.*?)^```$', re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
        assert "://" in target or (page.parent / target).exists(), target


def installed(name: str, pages: tuple[str, ...], folder: Path) -> Path:
    """The distribution that pages print, as if it were installed."""
    for page in pages:
        for path, text in BLOCK.findall((ROOT / "docs" / page).read_text()):
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text)
    for package in (name, f"{name}/kernels"):
        (folder / package / "__init__.py").write_text("")
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    entry = re.search(rf'^{name} = "(.+)"$', (folder / "pyproject.toml").read_text(), re.MULTILINE)
    assert entry
    (info / "entry_points.txt").write_text(f"[tilewright.platforms]\n{name} = {entry[1]}\n")
    return folder


def hard_swish(*shape: int) -> onnx.ModelProto:
    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        [helper.make_node("HardSwish", ["x"], ["y"], "swish")],
        "swish",
        [value("x", TensorProto.FLOAT, shape)],
        [value("y", TensorProto.FLOAT, shape)],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def tilewright(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    found = filter(None, (str(folder), os.environ.get("PYTHONPATH")))
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(found), "NO_COLOR": "1"}
    command = [sys.executable, "-m", "tilewright.cli", *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def test_the_plug_in_of_the_pages_runs(tmp_path: Path) -> None:
    acme = installed("acme", ("new_kernel.md", "new_platform.md"), tmp_path)
    onnx.save(hard_swish(1, 3, 5, 7), acme / "swish.onnx")
    done = tilewright(acme, "run", "swish.onnx", "-t", "board", "--json", "report.json", "--explain")
    assert done.returncode == 0, done.stderr
    report = json.loads((acme / "report.json").read_text())
    assert report["platform"] == "acme"
    assert [layer["kernel"] for layer in report["layers"]] == ["HardSwish"]
    assert report["run"]["match"]
    assert "acme" in tilewright(acme, "platforms").stdout
    conforms = tilewright(acme, "conform", "acme")
    assert conforms.returncode == 0, conforms.stdout + conforms.stderr


def test_the_tiled_kernel_of_the_page_runs(tmp_path: Path) -> None:
    tcm = installed("tcm", ("tiling.md",), tmp_path)
    onnx.save(hard_swish(1, 8, 40, 40), tcm / "swish.onnx")
    done = tilewright(tcm, "run", "swish.onnx", "-t", "board", "--json", "report.json", "--profile")
    assert done.returncode == 0, done.stderr
    report = json.loads((tcm / "report.json").read_text())
    (layer,) = report["layers"]
    assert (report["platform"], layer["kernel"]) == ("tcm", "HardSwish")
    assert layer["tiles"] > 1
    assert report["run"]["match"]
    conforms = tilewright(tcm, "conform", "tcm", "-t", "board")
    assert conforms.returncode == 0, conforms.stdout + conforms.stderr


def product(rows: int, depth: int, columns: int) -> onnx.ModelProto:
    """A product of codes by constant ones."""
    weights = np.random.default_rng(0).integers(-127, 128, (depth, columns)).astype(np.int8)
    held: dict[str, np.generic | NDArray[np.int8]] = {
        "as": np.float32(0.03), "az": np.int8(3), "w": weights, "ws": np.float32(0.01), "wz": np.int8(0),
        "ys": np.float32(0.05), "yz": np.int8(-5),
    }  # fmt: skip
    node = helper.make_node("QLinearMatMul", ["a", "as", "az", "w", "ws", "wz", "ys", "yz"], ["y"], "product")
    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        [node], "product", [value("a", TensorProto.INT8, [rows, depth])],
        [value("y", TensorProto.INT8, [rows, columns])],
        [numpy_helper.from_array(np.asarray(array), name) for name, array in held.items()],
    )  # fmt: skip
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)


def test_the_engine_of_the_page_computes_beside_the_cores(tmp_path: Path) -> None:
    quad = installed("quad", ("new_engine.md",), tmp_path)
    own = [quad / "quad" / "platform.py", *(quad / "quad" / "kernels").iterdir()]
    assert sum(bool(line.strip()) for file in own for line in file.read_text().splitlines()) <= 120
    blocks = dict(BLOCK.findall((ROOT / "docs" / "tiling.md").read_text()))
    (quad / "board" / "cluster.c").write_text(blocks["board/cluster.c"])
    onnx.save(product(37, 40, 96), quad / "product.onnx")
    words = ("run", "product.onnx", "-t", "board", "--set", "l1=4K", "--json", "report.json")
    done = tilewright(quad, *words, "--explain")
    assert done.returncode == 0, done.stderr
    assert "takes GridProduct of quad on grid" in done.stdout
    assert "cycles in tiles on cores" in done.stdout
    report = json.loads((quad / "report.json").read_text())
    (layer,) = report["layers"]
    assert (layer["engine"], layer["tiles"], report["run"]["match"]) == ("grid", 4, True)
    assert report["memory"]["pad"]["constants"] == 40 * 96
    board = quad / "board" / "target.toml"
    board.write_text(board.read_text().replace('"-O2"', '"-O1", "-DGRID_EARLY"'))
    assert tilewright(quad, *words).returncode == 0
    conforms = tilewright(quad, "conform", "quad", "-t", "board")
    assert conforms.returncode == 0, conforms.stdout + conforms.stderr


def test_the_integer_kernel_of_the_page_does_what_it_declares(tmp_path: Path) -> None:
    acme = installed("acme", ("new_kernel.md", "new_platform.md", "integers.md"), tmp_path)
    done = tilewright(acme, "conform", "acme", "--kernel", "Product", "--json", "answer.json")
    assert done.returncode == 0, done.stdout + done.stderr
    assert [row["kernel"] for row in json.loads((acme / "answer.json").read_text())["rows"]] == ["Product"]


def test_the_page_shows_what_a_requantisation_prints() -> None:
    multiplier = Channelwise("multiplier", DType.I32, (1 << 30, 1 << 29))
    addend, shift = Channelwise("addend", DType.I32, (3520,)), Channelwise("shift", DType.I8, (7,))
    form = MultiplyHigh(-128, 127, 0, multiplier, addend, shift)
    assert f"`{form.c('acc', 'o')}`" in (ROOT / "docs" / "integers.md").read_text()
