"""Runs over data sets: the accuracy that ONNX Runtime's outputs have, on this machine and on a simulated chip."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import jsonschema
import numpy as np
import onnx
import pytest
import tilewright.report
from conftest import MODELS
from graphs import node, onnx_model
from numpy.typing import NDArray
from tilewright.cli import main
from tilewright.commands.against import resolved
from tilewright.compile import compile_model
from tilewright.errors import DoesNotFit, UsageError
from tilewright.options import Against, CompileOptions, RunOptions
from tilewright.plan.plan import ExecutionPlan
from tilewright.report.build import load
from tilewright.run import data_set, samples
from tilewright.target import load_target

SCHEMA = json.loads(Path(tilewright.report.__file__).with_name("schema.json").read_text(encoding="utf-8"))
INT8, FLOAT = (str(MODELS / name / "model.onnx") for name in ("digits_int8", "digits"))


def digits(name: str) -> tuple[NDArray[Any], NDArray[Any]]:
    """Images, and what ONNX Runtime gave for them when the network was made."""
    with np.load(MODELS / name / "samples.npz") as archive:
        return archive["input"], archive["output"]


@pytest.fixture
def files(tmp_path: Path) -> Callable[[NDArray[Any], NDArray[Any]], list[str]]:
    """Writes images and labels; the words that name them."""

    def write(images: NDArray[Any], labels: NDArray[Any]) -> list[str]:
        np.savez(tmp_path / "images.npz", input=images)
        np.savez(tmp_path / "y.npz", y=labels)
        return ["--inputs", str(tmp_path / "images.npz"), "--labels", str(tmp_path / "y.npz")]

    return write


@pytest.mark.sim("qemu")
def test_accuracy_is_that_of_onnx_runtime(
    files: Callable[..., list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.setattr(samples, "COMPARED", 3)  # the rest runs in several starts of 5
    monkeypatch.setattr(data_set, "COMPARED", 3)
    monkeypatch.setattr(data_set, "MOST_CALLS", 5)
    images, codes = digits("digits_int8")
    _, reals = digits("digits")
    labels = codes.argmax(axis=1)
    labels[[4, 15]] = (labels[[4, 15]] + 1) % 10
    words = ["run", INT8, "-t", "stm32f407", *files(images, labels), "--against", FLOAT]
    kept = tmp_path / "predictions.npz"
    assert main([*words, "--predictions", str(kept), "-o", str(tmp_path / "out"), "--html", str(tmp_path / "p")]) == 0
    text = capsys.readouterr().out
    assert "16 samples, accuracy 87.50%; 3 of them compared" in text
    jsonschema.validate(json.loads((tmp_path / "out" / "report.json").read_text(encoding="utf-8")), SCHEMA)
    run = load(tmp_path / "out").run
    assert run is not None
    assert run.data_set is not None
    counts = np.array(run.data_set.confusion)
    assert (counts.sum(), np.trace(counts)) == (16, 14)
    assert all(counts[labels[n], codes[n].argmax()] for n in (4, 15))
    assert {(one.label, one.predicted) for one in run.data_set.confused} == {
        (labels[n], codes[n].argmax()) for n in (4, 15)
    }
    with np.load(kept) as archive:
        np.testing.assert_array_equal(archive["output"].reshape(codes.shape), codes)
        np.testing.assert_array_equal(archive["predicted"], codes.argmax(axis=1))
        np.testing.assert_array_equal(archive["labels"], labels)
    other = run.data_set.against
    assert other is not None
    assert (other.name, other.where) == ("digits", "on stm32f407")
    assert other.accuracy == (reals.argmax(axis=1) == labels).mean()
    assert other.agreement == (reals.argmax(axis=1) == codes.argmax(axis=1)).mean()
    apart = np.abs(codes - reals).max(axis=1)
    assert other.farthest[0].sample == apart.argmax()
    assert other.mean_abs_difference == pytest.approx(apart.mean(), rel=1e-3)
    assert '<table class="confusion">' in (tmp_path / "p").read_text(encoding="utf-8")


def test_several_networks_are_rated_on_the_same_samples(
    files: Callable[..., list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.setattr(samples, "COMPARED", 1)
    monkeypatch.setattr(data_set, "COMPARED", 1)
    (images, codes), (_, reals) = digits("digits_int8"), digits("digits")
    labels = codes.argmax(axis=1)
    labels[3] = (labels[3] + 1) % 10
    page = tmp_path / "page.html"
    assert main(["run", INT8, FLOAT, "-t", "host", *files(images, labels), "--html", str(page), "-q"]) == 0
    heads, _, *rows = capsys.readouterr().out.splitlines()
    assert heads.split()[-2:] == ["accuracy", "verdict"]
    rates = [f"{(outputs.argmax(axis=1) == labels).mean():.2%}" for outputs in (codes, reals)]
    assert [row.split()[-3] for row in rows[:2]] == rates
    assert f"accuracy {rates[0]}" in page.read_text(encoding="utf-8")


def test_a_table_of_predictions_and_outputs_from_elsewhere(
    files: Callable[..., list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(data_set, "FILE_BYTES", 1000)  # three samples in each start behind the first
    monkeypatch.setattr(data_set, "COMPARED", 1)
    images, reals = digits("digits")
    np.savez(tmp_path / "torch.npz", anything=reals)
    words = ["run", FLOAT, "-t", "host", *files(images, reals.argmax(axis=1))]
    words += ["--against", str(tmp_path / "torch.npz"), "--predictions", str(tmp_path / "p.csv")]
    assert main([*words, "--json", str(tmp_path / "r.json"), "-q"]) == 0
    with (tmp_path / "p.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [int(row["predicted"]) for row in rows] == reals.argmax(axis=1).tolist()
    assert float(rows[7]["output[3]"]) == pytest.approx(reals[7, 3], abs=1e-5)
    against = json.loads((tmp_path / "r.json").read_text())["run"]["data_set"]["against"]
    assert (against["name"], against["agreement"], against["where"]) == ("torch.npz", 1.0, "from a file")
    assert against["farthest"][0]["max_abs_difference"] < 1e-5


def test_a_float_network_that_does_not_fit_is_computed_by_onnx_runtime(tmp_path: Path) -> None:
    def too_large(*_: object) -> NoReturn:
        raise DoesNotFit("too large")

    images, reals = digits("digits")
    np.savez(tmp_path / "in.npz", input=images)
    asked = RunOptions(tmp_path / "in.npz", against=Against(Path(FLOAT), "model.onnx"))
    with resolved(asked, CompileOptions(), "rp2040", too_large) as found:
        assert found.against is not None
        assert found.against.where == "by ONNX Runtime on this machine, as it does not fit on rp2040"
        with np.load(found.against.file) as archive:
            np.testing.assert_allclose(archive["output"].reshape(reals.shape), reals, atol=1e-5)
    onnx.save(onnx_model([node("NoSuchOperator", "a", "y", "n")], {"a": (1, 8)}, ["y"], {}), tmp_path / "m.onnx")
    asked = RunOptions(tmp_path / "in.npz", against=Against(tmp_path / "m.onnx", "m.onnx"))
    with pytest.raises(DoesNotFit, match="too large"), resolved(asked, CompileOptions(), "rp2040", too_large):
        pass


IMAGES = np.zeros((4, 1, 8, 8), np.float32)
ZEROS = np.zeros(4, np.int64)
REFUSED: dict[str, tuple[NDArray[Any], NDArray[Any], dict[str, Any], str, str]] = {
    "shape": (IMAGES[:, :, :7], ZEROS, {}, "'input' in ", "N samples of it are float32[N, 1, 8, 8]"),
    "type": (IMAGES.astype(np.float64), ZEROS, {}, "is float64[4, 1, 8, 8]", "stack the samples along a first axis"),
    "none": (IMAGES[:0], ZEROS[:0], {}, "is float32[0, 1, 8, 8]", "with N of 1 or more"),
    "label too large": (IMAGES, np.array([0, 0, 10, 11]), {}, "label 10 of sample 2 in ", "0 to 9; 2 of"),
    "negative label": (IMAGES, ZEROS - 1, {}, "label -1 of sample 0", "4 of 4 labels are none"),
    "fewer labels": (IMAGES, ZEROS[:3], {}, "holds 3 labels for 4 samples", "in the same order"),
    "real labels": (IMAGES, ZEROS / 1, {}, "are float64[4]", "a label is a class number"),
    "one-hot": (IMAGES, np.eye(4, 10, dtype=np.int64), {}, "are int64[4, 10]", "of one-hot rows take argmax(axis=1)"),
    "ending": (IMAGES, ZEROS, {"predictions": Path("p.txt")}, "--predictions p.txt", "ends in .csv or .npz"),
    "layers": (IMAGES, ZEROS, {"layers": True}, "holds 4 samples", "--layers and --profile apply to one inference"),
    "frames": (IMAGES, ZEROS, {"frames": 3}, "--frames", "leave --frames out"),
}  # fmt: skip


@pytest.fixture(scope="module")
def plan() -> ExecutionPlan:
    return compile_model(Path(INT8), CompileOptions(), load_target("host")).plan


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_no_data_set_is_a_usage_error(
    case: str, plan: ExecutionPlan, files: Callable[..., list[str]], tmp_path: Path
) -> None:
    images, labels, more, *words = REFUSED[case]
    files(images, labels)
    with pytest.raises(UsageError) as error:
        samples.read_set(plan, RunOptions(tmp_path / "images.npz", labels=tmp_path / "y.npz", **more))
    assert all(word in str(error.value) for word in words), str(error.value)


def test_labels_need_samples_and_outputs_of_another_form_are_refused(
    files: Callable[..., list[str]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = files(IMAGES, ZEROS)
    assert main(["run", INT8, "-t", "host", *words[2:]]) == 2
    assert "--labels: it applies to samples, and there are none" in capsys.readouterr().err
    np.savez(tmp_path / "other.npz", output=np.zeros((4, 9)))
    assert main(["run", INT8, "-t", "host", *words, "--against", str(tmp_path / "other.npz")]) == 2
    assert "4 samples of 10 elements are needed, and it holds output[4, 9]" in capsys.readouterr().err


def test_two_inputs_give_as_many_samples_and_a_class_number_is_a_class(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    nodes = [node("Add", "a b", "s", "add"), node("ArgMax", "s", "y", "choose", axis=1, keepdims=0)]
    onnx.save(onnx_model(nodes, {"a": (1, 6), "b": (1, 6)}, ["y"], {}), tmp_path / "m.onnx")
    draw = np.random.default_rng(1)
    values = {name: draw.normal(size=(9, 1, 6)).astype(np.float32) for name in "ab"}
    labels = (values["a"] + values["b"]).argmax(axis=2)[:, 0]
    words = ["run", str(tmp_path / "m.onnx"), "-t", "host", "--inputs", str(tmp_path / "in.npz")]
    np.savez(tmp_path / "in.npz", labels=labels, **values)  # type: ignore[arg-type]
    assert main(words) == 0
    assert "9 samples, accuracy 100.00%; all of them compared" in capsys.readouterr().out
    np.savez(tmp_path / "in.npz", a=values["a"], b=values["b"][:8])
    assert main(words) == 2
    assert "holds different numbers of samples: 8, 9" in capsys.readouterr().err
