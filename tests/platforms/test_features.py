"""What the code of a platform can be is declared: what is not is left out of the plan, or refused where asked for."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest
from graphs import node, onnx_model
from row_networks import inverted_residual
from tilewright.cli import main
from tilewright.compile import Compiled, compile_model
from tilewright.conformance.subject import load_and_pass, place
from tilewright.errors import PlatformError, TilewrightError
from tilewright.options import CompileOptions
from tilewright.platform import Feature, MemoryLevel, Platform
from tilewright.platforms.cuda.platform import PLATFORM as CUDA
from tilewright.platforms.generic.platform import PLATFORM as GENERIC
from tilewright.target import load_target

ALL = frozenset(Feature)
DIGITS = Path(__file__).parents[1] / "models" / "digits_int8" / "model.onnx"


def skip_and_concat(folder: Path) -> Path:
    """A long skip that is cheap to compute again, and two wide parts of a Concat."""
    draw = np.random.default_rng(0)
    sizes = {"a": (16, 256), "b": (256, 1024), "c": (1024, 256), "d": (256, 512), "e": (256, 512)}
    constants: dict[str, object] = {
        name: (draw.standard_normal(shape) / 8).astype(np.float32) for name, shape in sizes.items()
    }
    nodes = [
        node("MatMul", "x a", "s", "skip"),
        node("MatMul", "s b", "h", "widen"),
        node("MatMul", "h c", "g", "shrink"),
        node("Mul", "g s", "m", "product"),
        node("MatMul", "m d", "left", "one_part"),
        node("MatMul", "m e", "right", "other_part"),
        node("Concat", "left right", "whole", "join", axis=1),
        node("Tanh", "whole", "y", "end"),
    ]
    file = folder / "net.onnx"
    onnx.save(onnx_model(nodes, {"x": [1, 16]}, ["y"], constants), file)
    return file


def aliases(found: Compiled) -> bool:
    return any(i.aliasing for i in found.plan.instructions)


def repeats(found: Compiled) -> bool:
    return any("_again" in i.name for i in found.plan.instructions)


def chains(found: Compiled) -> bool:
    return any(i.call.chain for i in found.plan.instructions)


@pytest.mark.parametrize(
    ("network", "feature", "seen"),
    [
        (skip_and_concat, Feature.ALIASING, aliases),
        (skip_and_concat, Feature.RECOMPUTE, repeats),
        (inverted_residual, Feature.ROW_CHAINS, chains),
    ],
)
def test_a_plan_holds_what_its_platform_supports(
    network: Callable[[Path], Path], feature: Feature, seen: Callable[[Compiled], bool], tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    file, host = network(tmp_path), load_target("host")
    assert seen(compile_model(file, CompileOptions(optimize="size"), host))
    monkeypatch.setattr(GENERIC, "supports", ALL - {feature})
    assert not seen(compile_model(file, CompileOptions(optimize="size"), host))


def test_conformance_aliases_where_the_platform_does() -> None:
    nodes = [node("Exp", "a", "p"), node("Exp", "b", "q"), node("Concat", "p q", "c", axis=1), node("Tanh", "c", "y")]
    model = load_and_pass(onnx_model(nodes, {"a": [1, 16], "b": [1, 32]}, ["y"], {}), "net")
    for feature in (Feature.RECOMPUTE, Feature.ALIASING):
        placed = place(model, replace(GENERIC, supports=ALL - {feature}), views=True)
        assert any(i.aliasing for i in placed.plan.instructions) is (feature is Feature.RECOMPUTE)


def regions(folder: Path, mode: str) -> Path:
    file = folder / f"{mode}.json"
    file.write_text(json.dumps({"regions": {"head": {"nodes": ["dense"], "compile_mode": mode}}}))
    return file


def test_what_is_not_supported_is_refused_where_it_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    host = load_target("host")
    monkeypatch.setattr(GENERIC, "supports", ALL - {Feature.CONTEXT})
    with pytest.raises(TilewrightError, match="--context asks for several instances: platform 'generic' writes"):
        compile_model(DIGITS, CompileOptions(context=True), host)
    monkeypatch.setattr(GENERIC, "supports", ALL - {Feature.REGIONS})
    with pytest.raises(TilewrightError, match="region 'head' cannot be kept outside of the code on 'generic'"):
        compile_model(DIGITS, CompileOptions(program=regions(tmp_path, "export")), host)
    monkeypatch.setattr(GENERIC, "supports", ALL - {Feature.LIBRARY})
    assert main(["compile", str(DIGITS), "-t", "host", "-o", str(tmp_path / "out"), "--project", "cmake"]) == 3
    assert "cannot pack the code of platform 'generic'" in capsys.readouterr().err
    monkeypatch.setattr(GENERIC, "supports", ALL - {Feature.KERNELS_APART})
    assert main(["conform", "generic"]) == 3
    assert "the kernels of platform 'generic' do not run on this machine" in capsys.readouterr().err


def test_an_emitter_says_what_it_supports() -> None:
    levels = [MemoryLevel("ram"), MemoryLevel("flash", readonly=True)]
    with pytest.raises(PlatformError, match=r"'own' does not say what its emitter supports: 'own\.emit' writes"):
        Platform("own", "writes its code", levels, emitter="own.emit")
    own = Platform("own", "writes its code", levels, emitter="own.emit", supports={Feature.ALIASING})
    assert [feature for feature in Feature if own.can(feature)] == [Feature.ALIASING]
    assert all(Platform("plain", "plain C", levels).can(feature) for feature in Feature)
    assert not any(CUDA.can(feature) for feature in Feature)


def test_a_program_without_outside_weights_keeps_the_platforms_own_code(tmp_path: Path) -> None:
    found = compile_model(DIGITS, CompileOptions(program=regions(tmp_path, "freeze")), load_target("cuda_host"))
    assert any(name.endswith(".cu") for name in found.artifacts.files)
