"""Sweeps on processes and on a Dask cluster: answers come as they are there, and a worker that dies loses nothing."""

from __future__ import annotations

import importlib.util
import json
import os
import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from conftest import MODELS
from sweep import questions
from tilewright.cli import main
from tilewright.errors import DoesNotFit, TilewrightError, ToolMissing
from tilewright.sweep import Place, answers

DIGITS = [str(MODELS / name / "model.onnx") for name in ("digits", "digits_int8")]
TESTS = str(Path(__file__).parents[1])


@pytest.fixture(autouse=True)
def _workers_find_the_questions(monkeypatch: pytest.MonkeyPatch) -> None:
    found = [TESTS, *filter(None, [os.environ.get("PYTHONPATH")])]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(found))


@contextmanager
def cluster() -> Iterator[str]:
    """The address of a scheduler with two workers, each a process of its own that a nanny starts again."""
    if importlib.util.find_spec("distributed") is None:
        pytest.skip("distributed is not installed")
    from distributed import LocalCluster

    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50) as local:
        yield local.scheduler_address


def ask(function: Callable[..., object], asked: list[object], place: Place) -> dict[int, object]:
    return dict(answers(function, asked, place))


@pytest.mark.parametrize("jobs", [1, 3])
def test_every_question_has_its_answer(jobs: int) -> None:
    assert ask(questions.double, list(range(7)), Place(jobs)) == {number: 2 * number for number in range(7)}


def test_answers_come_as_they_are_there() -> None:
    assert [index for index, _ in answers(questions.slow_first, [0, 1, 2], Place(2))][-1] == 0


def test_errors_cross_the_border_whole() -> None:
    found = ask(questions.refuse, [0, 1, 2, 3], Place(2))
    first, second = found[1], found[2]
    assert isinstance(first, DoesNotFit)
    assert (str(first), first.smallest, first.code) == ("too large: it is; shrink it", {"ram": 7}, 4)
    assert isinstance(second, TilewrightError)
    assert "ZeroDivisionError: by nothing" in str(second)
    assert (found[0], found[3]) == (0, 3)


def test_a_question_that_ends_every_worker_is_told_and_the_others_are_answered() -> None:
    found = ask(questions.die, list(range(6)), Place(2))
    assert isinstance(found[1], TilewrightError)
    assert "a worker died 3 times over the same question: it was ended by signal SIGKILL" in str(found[1])
    assert [found[n] for n in (0, 2, 3, 4, 5)] == [0, 2, 3, 4, 5]


def test_a_worker_that_dies_loses_nothing(tmp_path: Path) -> None:
    names = [str(tmp_path / name) for name in ("a", "deadly_one", "b", "deadly_two", "c")]
    assert ask(questions.die_once, list(names), Place(2)) == {i: Path(name).name for i, name in enumerate(names)}


def test_a_worker_of_a_cluster_that_dies_loses_nothing(tmp_path: Path) -> None:
    names = [str(tmp_path / name) for name in ("a", "deadly_one", "b", "deadly_two", "c", "d")]
    with cluster() as address:
        found = ask(questions.die_once, list(names), Place(cluster=address))
    assert found == {i: Path(name).name for i, name in enumerate(names)}


def test_an_error_is_pickled_with_its_place() -> None:
    error = DoesNotFit("what", why="why", fix="fix", node="n", tensor="t", smallest={"l1": 3})
    error.add_note("seen")
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.where, again.smallest, again.__notes__) == (
        str(error), error.where, error.smallest, error.__notes__,
    )  # fmt: skip


def swept(words: list[str], tmp_path: Path) -> list[dict[str, object]]:
    """The rows of a command that must end well."""
    file = tmp_path / "answer.json"
    assert main([*words, "--json", str(file), "-q"]) == 0
    rows: list[dict[str, object]] = json.loads(file.read_text())["rows"]
    return rows


def timeless(rows: list[dict[str, object]]) -> list[dict[str, object]]:
    return [{key: value for key, value in row.items() if key != "tool"} for row in rows]


def test_check_gives_the_same_rows_on_processes_and_on_a_cluster(tmp_path: Path) -> None:
    words = ["check", *DIGITS, "-t", "host,qemu_microbit"]
    alone = swept(words, tmp_path)
    assert [(row["source"], row["target"], row["fits"]) for row in alone] == [
        (model, target, True) for model in DIGITS for target in ("host", "qemu_microbit")
    ]
    lines = tmp_path / "rows.jsonl"
    assert timeless(swept([*words, "--jobs", "2", "--rows", str(lines)], tmp_path)) == timeless(alone)
    written = [json.loads(line) for line in lines.read_text().splitlines()]
    assert sorted((row["source"], row["target"]) for row in written) == sorted(
        (row["source"], row["target"]) for row in alone
    )
    with cluster() as address:
        assert timeless(swept([*words, "--cluster", address], tmp_path)) == timeless(alone)


def test_memory_and_run_over_many(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = swept(["memory", *DIGITS, "--strategies", "greedy,naive", "--jobs", "2"], tmp_path)
    assert len(rows) == 4
    out = tmp_path / "out"
    rows = swept(["run", *DIGITS, "-t", "host,qemu_rv32imc", "--jobs", "2", "-o", str(out)], tmp_path)
    assert len(rows) == 4
    table = capsys.readouterr().out
    assert table.count("outputs match") == 4
    assert "instructions" in table
    assert (out / "digits_int8" / "qemu_rv32imc" / "report.json").is_file()


def test_conform_on_processes_finds_the_same(tmp_path: Path) -> None:
    found = []
    for jobs in ("1", "2"):
        file = tmp_path / f"{jobs}.json"
        words = ["conform", "generic", "--kernel", "Scatter", "--each", "1", "--jobs", jobs, "--json", str(file), "-q"]
        assert main(words) == 0
        found.append(json.loads(file.read_text()))
    assert found[0] == found[1]


def test_refusals(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert main(["check", DIGITS[0], "--jobs", "0"]) == 2
    assert "no worker would run" in capsys.readouterr().err
    assert main(["check", DIGITS[0], "--jobs", "2", "--cluster", "tcp://127.0.0.1:1"]) == 2
    assert "workers of its own" in capsys.readouterr().err
    assert main(["run", *DIGITS, "-t", "host", "--inputs", str(MODELS / "digits" / "inputs.npz")]) == 2
    assert "they belong to one model" in capsys.readouterr().err
    assert main(["run", *DIGITS, "-t", "host", "--explain"]) == 2
    assert main(["check", DIGITS[0], "-t", "host", "--rows", str(tmp_path)]) == 2
    assert "cannot write" in capsys.readouterr().err
    monkeypatch.setitem(__import__("sys").modules, "distributed", None)
    with pytest.raises(ToolMissing, match="distributed is not installed"):
        ask(questions.double, [1], Place(cluster="tcp://127.0.0.1:1"))


def test_no_scheduler_answers(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    if importlib.util.find_spec("distributed") is None:
        pytest.skip("distributed is not installed")
    monkeypatch.setattr("tilewright.sweep.cluster.CONNECT_SECONDS", 1)
    assert main(["check", DIGITS[0], "-t", "host", "--cluster", "tcp://127.0.0.1:1"]) == 2
    assert "no Dask scheduler answers there" in capsys.readouterr().err
