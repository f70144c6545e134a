"""Completion: each shell takes its script, and offers verbs, options, choices, targets and platforms."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from tilewright.cli import VERBS, main


def script(shell: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    with pytest.raises(SystemExit) as ended:
        main(["--completion", shell])
    assert ended.value.code == 0
    file = folder / f"tilewright.{shell}"
    file.write_text(capsys.readouterr().out)
    return file


def offered(file: Path, *words: str) -> set[str]:
    """What bash offers for the last of the words."""
    line = " ".join(f"'{word}'" for word in words)
    code = f"source {file}; COMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; _tilewright; echo ${{COMPREPLY[@]}}"
    done = subprocess.run(["bash", "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_bash_offers_what_fits(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = script("bash", tmp_path, capsys)
    assert offered(file, "tilewright", "") >= {*VERBS, "--version"}
    assert offered(file, "tilewright", "com") == {"compile"}
    assert offered(file, "tilewright", "check", "m.onnx", "--bud") == {"--budget"}
    assert offered(file, "tilewright", "check", "-t", "ho") >= {"host"}
    assert "host,qemu_pulp" in offered(file, "tilewright", "check", "-t", "host,qemu_p")
    assert offered(file, "tilewright", "compile", "--io", "") == {"arena", "caller", "stream"}
    assert {"generic", "cortex_m"} <= offered(file, "tilewright", "conform", "")
    assert offered(file, "tilewright", "check", "") == set()  # then bash offers files
    assert offered(file, "tilewright", "--completion", "") == {"bash", "zsh", "fish"}


def test_fish_offers_what_fits(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = script("fish", tmp_path, capsys)
    assert "-a compile -d 'write the C project and report.json'" in file.read_text()
    if shutil.which("fish"):

        def told(line: str) -> str:
            command = ["fish", "--no-config", "-c", f"source {file}; complete -C '{line}'"]
            return subprocess.run(command, capture_output=True, text=True, check=True).stdout

        assert "compile\twrite the C project" in told("tilewright ")
        values = {line.split()[0] for line in told("tilewright compile --io ").splitlines()}
        assert values == {"arena", "caller", "stream"}
        assert "host" in told("tilewright run m.onnx -t ").split()


def test_zsh_takes_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = script("zsh", tmp_path, capsys)
    assert "'--io[where inputs and outputs live]:VALUE:_values -s , name arena caller stream'" in file.read_text()
    if shutil.which("zsh"):
        code = f"autoload -U compinit && compinit -D -u && source {file} && print -r -- $_comps[tilewright]"
        done = subprocess.run(["zsh", "-f", "-c", code], capture_output=True, text=True, check=True)
        assert done.stdout.strip() == "_tilewright"
        subprocess.run(["zsh", "-n", str(file)], check=True)


def test_another_shell_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--completion", "tcsh"]) == 2
    assert "choose bash or zsh or fish" in capsys.readouterr().err
