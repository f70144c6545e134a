"""Decisions in a file: followed to the same code without a search, and refused in a sentence where they are wrong."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from deployed import deployment
from plan.plans import model_of
from tilewright.compile import Compiled, compile_model
from tilewright.deployer.network import NetworkDeployer
from tilewright.errors import TilewrightError, UsageError
from tilewright.memory.planner import place_plan
from tilewright.options import CompileOptions
from tilewright.schedule.decisions import Decisions
from tilewright.schedule.decisions_file import followed, read_decisions, write_decisions
from tilewright.target import load_target

MODELS = Path(__file__).parents[1] / "models"
DIGITS = MODELS / "digits" / "model.onnx"


def written(compiled: Compiled, file: Path) -> Path:
    write_decisions(compiled.decisions, compiled.loaded.sha256, compiled.request.platform.name, file)
    return file


@pytest.mark.parametrize(
    ("name", "target", "optimize"),
    [("odd_unet_int8", "host", "balanced"), ("digits_int8", "qemu_pulp", "balanced"),
     ("digits_int8", "gvsoc_pulp_open", "balanced"), ("odd_temporal", "qemu_mps2_an386", "size")],
)  # fmt: skip
def test_a_file_is_followed_to_the_same_code(
    name: str, target: str, optimize: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, asked = MODELS / name / "model.onnx", load_target(target)
    first = compile_model(source, CompileOptions(optimize=optimize), asked)
    file, places = written(first, tmp_path / "decisions.json"), list[object]()

    def counted(*given: Any, **named: Any) -> Any:
        places.append(named["given"])
        return place_plan(*given, **named)

    monkeypatch.setattr("tilewright.memory.placing.place_plan", counted)
    second = compile_model(source, CompileOptions(optimize=optimize, decisions=file), asked)
    assert {p: second.artifacts.text(p) for p in second.artifacts.files} == {
        p: first.artifacts.text(p) for p in first.artifacts.files
    }
    assert second.decisions == first.decisions
    assert second.plan.stack_bytes == first.plan.stack_bytes
    assert places == [first.decisions.offsets]


Change = Callable[[dict[str, Any]], object]


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda body: body.update(model="0" * 64), "its model is '0000"),
        (lambda body: body.update(platform="cuda"), "its platform is 'cuda', this one is 'generic'"),
        (lambda body: body.update(schema="tilewright/lock/1"), "its schema is 'tilewright/lock/1'"),
        (lambda body: body.update(notes=""), "it has 'notes', which is nothing that is decided"),
        (lambda body: body["decisions"].update(kernel={}), "did you mean 'kernels'?"),
        (lambda body: body["decisions"]["kernels"].update(cnov0="ConvF32"), "no node 'cnov0'; did you mean 'conv0'"),
        (lambda body: body["decisions"]["kernels"].update(conv0="ConvF33"), "'conv0' cannot be bound to 'ConvF33'"),
        (lambda body: body["decisions"]["order"].reverse(), "before it is made"),
        (lambda body: body["decisions"].update(aliased=["conv0"]), "some instructions cannot be aliased"),
        (lambda body: body["decisions"].update(row_chains=[{"nodes": ["conv0", "conv2"], "rows": 0}]), "one row"),
        (lambda body: body["decisions"].update(row_chains=[{"nodes": ["conv0", "conv9"], "rows": 1}]), "'conv9'"),
        (lambda body: body["decisions"].update(recomputed=[{"node": "conv0", "before": "conv0"}]), "computed again"),
        (lambda body: body["decisions"]["offsets"].update(slot0=0, slot1=0, slot2=0), "share bytes"),
        (lambda body: body["decisions"]["offsets"].update(slot99=0), "has an offset for 'slot99'"),
        (lambda body: body["decisions"]["offsets"].pop("slot1"), "has no offset for 'slot1'"),
        (lambda body: body["decisions"].update(tiles=[{"nodes": ["conv0"]}]), "has another form than we write"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_refused_in_a_sentence(change: Change, why: str, tmp_path: Path) -> None:
    start = deployment(model_of(DIGITS))
    file, platform = tmp_path / "decisions.json", start.question.request.platform.name
    solution = start.finished().solution
    write_decisions(start.with_offsets(solution.offsets).decided, start.model.sha256, platform, file)
    assert followed(start.question, file).finished().solution.offsets == solution.offsets
    body = json.loads(file.read_text())
    change(body)
    file.write_text(json.dumps(body))
    with pytest.raises(UsageError) as refused:
        followed(start.question, file).finished()
    assert why in str(refused.value)


@pytest.mark.parametrize("value", [None, 5, -1, "x", True, [], {}, [5], [[]], [{}], {"conv0": 5}, {"slot0": "x"}])
def test_no_value_is_a_bug_of_ours(value: object, tmp_path: Path) -> None:
    start, file = deployment(model_of(DIGITS)), tmp_path / "decisions.json"
    write_decisions(start.decided, start.model.sha256, "generic", file)
    codes = set[int]()
    for key in json.loads(file.read_text())["decisions"]:
        body = json.loads(file.read_text())
        body["decisions"][key] = value
        wrong = tmp_path / "wrong.json"
        wrong.write_text(json.dumps(body))
        try:
            followed(start.question, wrong).finished()
        except TilewrightError as error:
            codes.add(error.code)
    assert codes <= {2, 4}


@pytest.mark.parametrize("text", ["", "[]", "{", '{"schema": 1e999}', "[" * 100_000])
def test_what_is_no_file_of_decisions_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "no.json").write_text(text)
    with pytest.raises(UsageError, match=r"the decisions in 'no\.json' cannot be followed"):
        read_decisions(tmp_path / "no.json", "", "generic")


def test_what_is_left_out_is_not_decided(tmp_path: Path) -> None:
    file = tmp_path / "few.json"
    write_decisions(Decisions(), "abc", "generic", file)
    body = json.loads(file.read_text())
    body["decisions"] = {"kernels": {"a": "B"}}
    file.write_text(json.dumps(body))
    assert read_decisions(file, "abc", "generic") == Decisions(kernels={"a": "B"})


def test_decisions_and_counts_exclude_each_other() -> None:
    with pytest.raises(UsageError, match="--decisions and --lock"):
        CompileOptions(decisions=Path("a"), lock=Path("b"))


def test_a_deployer_does_not_leave_the_file_out_without_a_word() -> None:
    with pytest.raises(UsageError, match=r"does not take a file of decisions: .*read_decisions\(\)"):
        NetworkDeployer(DIGITS, load_target("host"), CompileOptions(decisions=Path("a")))
