"""Simulators of other distributions: a target names one, `run` starts it; what cannot be loaded is said."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tilewright.cli import main
from tilewright.errors import PlatformError
from tilewright.run import simulator
from tilewright.run.simulator import simulator_of
from tilewright.simulators import known_simulators
from tilewright.target import Target, load_target, targets_folder

DIGITS = Path(__file__).parents[1] / "models" / "digits_int8" / "model.onnx"
CODE = '''
"""The host, behind a program that writes down what it is given."""

from pathlib import Path

from tilewright.run.image import Image
from tilewright.run.simulator import Simulator, Subject
from tilewright.run.simulators.native import Native

WRAPPER = Path(__file__).with_name("wrapper.sh")


class Wrapped(Native):
    """The host's image under a wrapper; code and stack count as on a board."""

    on_this_machine = False

    def command(self, image: Image) -> list[str]:
        return ["/bin/sh", str(WRAPPER), *super().command(image)]


class Mute(Simulator):
    """Runs nothing and says that all went well."""

    def run(self, subject, target, asked):
        return subject.report


WRAPPED, MUTE, WRONG = Wrapped(), Mute(), Wrapped
'''
Board = Callable[[str], Target]


def distribution(folder: Path, name: str, **simulators: str) -> None:
    """A distribution with these entry points, as pip would leave it."""
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    points = "".join(f"{key} = {place}\n" for key, place in simulators.items())
    (info / "entry_points.txt").write_text(f"[tilewright.simulators]\n{points}")


@pytest.fixture
def board(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Board]:
    """Targets that are this machine under a simulator of another distribution."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "outside_simulators.py").write_text(CODE)
    (outside / "wrapper.sh").write_text('echo "$1" >> "$(dirname "$0")/started"\nexec "$@"\n')
    module = "outside_simulators"
    distribution(outside, "wrapping", wrapped=f"{module}:WRAPPED", mute=f"{module}:MUTE", wrong=f"{module}:WRONG",
                 absent=f"{module}:ABSENT", twice=f"{module}:MUTE")  # fmt: skip
    distribution(outside, "other", twice=f"{module}:MUTE")
    monkeypatch.syspath_prepend(outside)
    host = (targets_folder() / "host" / "target.toml").read_text()

    def make(name: str) -> Target:
        folder = tmp_path / f"board_{name}"
        folder.mkdir()
        text = host.replace('simulator = "native"', f'simulator = "{name}"').replace('"host"', f'"{name}_board"')
        (folder / "target.toml").write_text(text)
        return load_target(folder)

    yield make
    simulator._simulator.cache_clear()


def test_a_network_runs_on_a_simulator_from_outside(
    board: Board, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = board("wrapped")
    answer = tmp_path / "answer.json"
    command = ["run", str(DIGITS), "-t", str(target.folder), "--json", str(answer)]
    assert main(command) == 0, capsys.readouterr().err
    assert "digits_int8 on wrapped_board (generic)" in capsys.readouterr().out
    report = json.loads(answer.read_text())
    assert '"match": true' in json.dumps(report)
    (image,) = (tmp_path / "outside" / "started").read_text().splitlines()
    assert image.endswith("digits_int8.elf")


def test_a_simulator_may_run_networks_in_its_own_way(board: Board, tmp_path: Path) -> None:
    target = board("mute")
    assert main(["run", str(DIGITS), "-t", str(target.folder), "-q"]) == 0
    assert not (tmp_path / "outside" / "started").exists()


def test_what_a_simulator_declares_holds_for_the_commands(board: Board, capsys: pytest.CaptureFixture[str]) -> None:
    """Code and stack are estimated where a program costs scarce memory."""
    told = []
    for target in ("host", str(board("wrapped").folder)):
        assert main(["check", str(DIGITS), "-t", target]) == 0
        told.append("stack" in capsys.readouterr().out)
    assert told == [False, True]


def test_what_cannot_be_loaded_is_said(board: Board) -> None:
    with pytest.raises(PlatformError, match="simulator 'wrong' cannot be loaded: a ABCMeta stands where a Simulator"):
        simulator_of(board("wrong"))
    with pytest.raises(PlatformError, match=r"simulator 'absent' \(wrapping 1.0\) cannot be loaded: AttributeError"):
        simulator_of(board("absent"))
    with pytest.raises(PlatformError, match=r"two simulators are called 'twice': one comes from (wrapping|other) 1.0,"):
        simulator_of(board("twice"))
    with pytest.raises(PlatformError, match=r"'spice' is none of 'native', 'qemu', .*'wrapped', 'wrong' and 'none'"):
        board("spice")
    assert known_simulators()[:4] == ("native", "qemu", "gvsoc", "cuda")
