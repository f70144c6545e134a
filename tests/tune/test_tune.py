"""`tilewright tune`: counts correct a wrong cost model, the same lock every time, and what cannot be counted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tilewright.binding.lock import load_lock
from tilewright.cli import main
from tilewright.compile import Compiled, compile_model
from tilewright.options import CompileOptions
from tilewright.plugins import platform
from tilewright.target import load_target
from tilewright.tune.count import Question, tune

M55, RISCV = "qemu_mps3_an547", "qemu_rv32imc"
Network = Callable[[str], Any]


def kernels(compiled: Compiled) -> dict[str, str]:
    return {b.call.node.name: b.kernel.name for b in compiled.bound.nodes if b.kernel is not None}


def test_counts_correct_a_planted_cost_model(network: Network, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model, target = network("digits_int8").model, load_target(M55)
    options = CompileOptions(optimize="speed", disabled_passes=frozenset({"row_chains"}))
    right = kernels(compile_model(model, options, target))
    assert "ConvMve" in right.values()
    lying = next(kernel for kernel in platform("cortex_m").own_kernels() if kernel.name == "ConvMve")
    monkeypatch.setattr(type(lying.methods), "cost", lambda self, call: 1e12)
    wrong = kernels(compile_model(model, options, target))
    assert "ConvMve" not in wrong.values()
    lock = tmp_path / "digits.lock"
    assert (
        main(
            [
                "tune",
                str(model),
                "-t",
                M55,
                "-o",
                str(lock),
                "--optimize",
                "speed",
                "--without-pass",
                "row_chains",
                "-q",
            ]
        )
        == 0
    )
    counts = load_lock(lock).counts
    found = kernels(compile_model(model, replace(options, lock=lock), target))
    for node, counted in counts.items():
        assert counted[found[node]] == min(counted.values())
    assert {node for node in right if right[node] == "ConvMve"} == {n for n in found if found[n] == "ConvMve"}


def test_the_lock_is_the_same_every_time_and_with_any_number_of_jobs(network: Network) -> None:
    question = Question(network("digits_int8").model, CompileOptions(), RISCV)
    alone = tune(question)
    assert alone == tune(question, jobs=2)
    assert alone.counts, "there was something to choose"
    assert all(len(counted) > 1 and list(counted.values()) == sorted(counted.values()) for counted in
               alone.counts.values())  # fmt: skip


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--jobs", "0"], "--jobs 0: at least one simulator must run; use 1 or more"),
        (["--lock", "MODEL"], "tune does not take --lock: it counts every kernel of the whole network"),
        (["--decisions", "MODEL"], "tune does not take --decisions: it counts every kernel of the whole network"),
    ],
)
def test_what_tune_refuses(
    network: Network, tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str], message: str
) -> None:
    model = str(network("digits_int8").model)
    given = [word.replace("MODEL", model) for word in words]
    assert main(["tune", model, "-t", RISCV, "-o", str(tmp_path / "a.lock"), *given]) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "a.lock").exists()


def test_explain_tells_what_each_alternative_would_cost(
    network: Network, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = str(network("digits_int8").model)
    assert main(["compile", model, "-t", M55, "-o", str(tmp_path / "out"), "--explain"]) == 0
    told = capsys.readouterr().out
    assert "takes ConvMve of cortex_m, exact: about " in told
    assert "ConvDsp of cortex_m: would do: about " in told
    assert " B of flash, " in told
    assert " B of scratch" in told
