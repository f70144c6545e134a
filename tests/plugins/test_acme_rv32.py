"""An outside distribution, installed as its users install it: found, preferred, compiled, equal; a clash is named."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from graphs import node, onnx_model

ACME = Path(__file__).parent / "acme_rv32"
BOARD = ACME / "board"


def installed(source: Path, folder: Path) -> Path:
    """The distribution of `source`, installed by pip into a folder of its own."""
    copy = folder / "source"
    shutil.copytree(source, copy)
    site = folder / "site"
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    done = subprocess.run(
        [*pip, "--disable-pip-version-check", "--target", str(site), str(copy)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return site


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return installed(ACME, tmp_path_factory.mktemp("acme"))


def tilewright(folder: Path, *arguments: str, sites: tuple[Path, ...]) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, sites)), "NO_COLOR": "1"}
    command = [sys.executable, "-m", "tilewright.cli", *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def network(path: Path) -> Path:
    """Two quantised products, 11 values to 6 to 3, the first with scales by column; and a Relu of generic's."""
    r = np.random.default_rng(3)
    constants: dict[str, object] = {"s": np.float32(0.03), "z": np.int8(5), "zw": np.zeros(6, np.int8)}
    constants |= {"sw": r.uniform(0.005, 0.02, 6).astype(np.float32), "w": r.integers(-127, 128, (11, 6)).astype("i1")}
    constants |= {"su": np.float32(0.01), "zu": np.int8(0), "u": r.integers(-127, 128, (6, 3)).astype("i1")}
    nodes = [
        node("QuantizeLinear", "x s z", "xq"), node("DequantizeLinear", "xq s z", "xr"),
        node("DequantizeLinear", "w sw zw", "wr", axis=1), node("MatMul", "xr wr", "h", "first"),
        node("QuantizeLinear", "h s z", "hq"), node("DequantizeLinear", "hq s z", "hr"),
        node("DequantizeLinear", "u su zu", "ur"), node("MatMul", "hr ur", "y", "second"),
        node("QuantizeLinear", "y s z", "yq"), node("DequantizeLinear", "yq s z", "yr"),
        node("Sin", "yr", "out", "wave"),
    ]  # fmt: skip
    onnx.save(onnx_model(nodes, {"x": (4, 11)}, ["out"], constants), path)
    return path


def test_the_python_of_the_plug_in_is_short() -> None:
    lines = [line for file in ACME.rglob("*.py") for line in file.read_text().splitlines()]
    assert len(lines) <= 60


def test_the_plug_in_is_found_and_its_kernel_runs(site: Path, tmp_path: Path) -> None:
    listed = tilewright(tmp_path, "platforms", sites=(site,))
    assert "acme_rv32" in listed.stdout
    assert "acme-rv32 1.0" in listed.stdout
    model = network(tmp_path / "two.onnx")
    done = tilewright(
        tmp_path, "run", str(model), "-t", str(BOARD), "-o", "out", "--json", "report.json", sites=(site,)
    )
    assert done.returncode == 0, done.stderr
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["platform"] == "acme_rv32"
    assert set(report["memory"]) == {"sram", "flash"}
    kernels = {layer["name"]: layer["kernel"] for layer in report["layers"]}
    assert (kernels["first"], kernels["second"]) == ("MatMulDot4", "MatMulDot4")
    assert kernels["wave"] != "MatMulDot4"
    assert report["run"]["match"]
    assert report["run"]["max_lsb_error"] in (0, None)
    text = next((tmp_path / "out").rglob("two.c")).read_text()
    assert "acme_dot4" in text
    assert "double" not in text


def test_a_second_distribution_of_the_same_name_is_named_and_hides_nothing_else(site: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    shutil.copytree(ACME, other)
    text = (other / "pyproject.toml").read_text()
    (other / "pyproject.toml").write_text(text.replace('"acme-rv32"', '"best-rv32"').replace('"1.0"', '"2.5"'))
    second = installed(other, tmp_path / "second")
    listed = tilewright(tmp_path, "platforms", sites=(site, second))
    assert listed.returncode in (0, 3)
    assert "two platforms are called 'acme_rv32': one comes from" in listed.stdout + listed.stderr
    refused = tilewright(tmp_path, "ops", "-p", "acme_rv32", sites=(site, second))
    assert refused.returncode == 3
    assert "acme-rv32 1.0" in refused.stderr
    assert "best-rv32 2.5" in refused.stderr
    assert tilewright(tmp_path, "ops", "-p", "generic", sites=(site, second)).returncode == 0


def test_a_plug_in_whose_import_fails_is_told_and_the_other_still_runs(site: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    shutil.copytree(ACME, broken)
    text = (broken / "pyproject.toml").read_text()
    text = text.replace('"acme-rv32"', '"torn"').replace('acme_rv32 = "acme_rv32.platform', 'torn = "torn.platform')
    (broken / "pyproject.toml").write_text(text.replace("acme_rv32", "torn"))
    (broken / "acme_rv32").rename(broken / "torn")
    (broken / "torn" / "platform.py").write_text("import acme_dma_driver\n")
    second = installed(broken, tmp_path / "second")
    listed = tilewright(tmp_path, "platforms", sites=(site, second))
    assert "platform 'torn' (torn 1.0) cannot be loaded" in listed.stdout + listed.stderr
    assert "acme_dma_driver" in listed.stdout + listed.stderr
    assert tilewright(tmp_path, "ops", "-p", "acme_rv32", sites=(site, second)).returncode == 0
