"""The lock file: what is written is read, and every other file is refused in a sentence, with exit code 2."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import tilewright
from tilewright.cli import main
from tilewright.compile import compile_model
from tilewright.errors import StateError, UsageError
from tilewright.options import CompileOptions
from tilewright.tune.lock import Lock, load_lock, require, save_lock, subject_of
from tilewright.version import VERSION

OPTIONS = CompileOptions()


def lock_for(network: Callable[[str], object], counts: dict[str, dict[str, int]], target: str = "host") -> Lock:
    """A lock that fits digits_int8 on a target."""
    files = network("digits_int8")
    compiled = compile_model(files.model, OPTIONS, tilewright.load_target(target))  # type: ignore[attr-defined]
    return Lock(VERSION, subject_of(compiled.loaded.sha256, OPTIONS, compiled.request.target), counts)


def test_it_reads_what_it_wrote(network: Callable[[str], object], tmp_path: Path) -> None:
    lock = lock_for(network, {"conv": {"B": 2, "A": 1}, "größe": {}})
    save_lock(lock, tmp_path / "a.lock")
    save_lock(load_lock(tmp_path / "a.lock"), tmp_path / "b.lock")
    assert load_lock(tmp_path / "a.lock") == lock
    assert (tmp_path / "a.lock").read_bytes() == (tmp_path / "b.lock").read_bytes()


def test_it_is_written_whole_or_not_at_all(network: Callable[[str], object], tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        save_lock(lock_for(network, {}), tmp_path / "missing" / "a.lock")
    assert list(tmp_path.iterdir()) == []


def damage(text: str, how: str) -> str:
    value = json.loads(text)
    if how == "count":
        value["counts"]["conv"]["A"] = 7
    elif how == "schema":
        value["schema"] = "tilewright/lock/9"
    elif how == "list":
        return "[]"
    elif how == "half":
        return text[: len(text) // 2]
    elif how == "deep":
        return "[" * 100_000
    return json.dumps(value)


@pytest.mark.parametrize(
    ("how", "why"),
    [
        ("count", "its checksum does not fit its contents"),
        ("schema", "its schema is not 'tilewright/lock/1'"),
        ("list", "its schema is not"),
        ("half", "it is not JSON"),
        ("deep", "it is not JSON"),
    ],
)
def test_a_damaged_file_is_refused(network: Callable[[str], object], tmp_path: Path, how: str, why: str) -> None:
    file = tmp_path / "a.lock"
    save_lock(lock_for(network, {"conv": {"A": 1}}), file)
    file.write_text(damage(file.read_text(), how))
    with pytest.raises(StateError, match=why) as caught:
        load_lock(file)
    assert caught.value.code == 2


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"version": "0.0.1"}, f"version 0.0.1 counted it, this is {VERSION}"),
        ({"model": "00"}, "it was made for another model"),
        ({"target": "qemu_rv32imc"}, "it was made for target 'qemu_rv32imc', not 'host'"),
        ({"target_sha256": "00"}, "target 'host' has changed since"),
        ({"options": "--optimize speed"}, "it was made with '--optimize speed', now it is '--optimize balanced'"),
    ],
)
def test_a_foreign_lock_says_what_differs(
    network: Callable[[str], object], tmp_path: Path, changed: dict[str, str], why: str
) -> None:
    lock = lock_for(network, {})
    version = changed.pop("version", lock.version)
    made = replace(lock, version=version, subject=replace(lock.subject, **changed))
    with pytest.raises(StateError) as caught:
        require(made, lock.subject, tmp_path / "a.lock")
    assert why in str(caught.value)
    assert str(caught.value).endswith("count again with 'tilewright tune'")


@pytest.mark.parametrize(
    ("counts", "why"),
    [
        ({"nowhere": {"ConvI8": 1}}, "the network has no node 'nowhere'"),
        ({"conv0": {"ConvGone": 1}}, "kernel 'ConvGone' does not take node 'conv0' any more"),
    ],
)
def test_a_stale_lock_is_one_sentence_on_the_command_line(
    network: Callable[[str], object],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    counts: dict[str, dict[str, int]],
    why: str,
) -> None:
    file = tmp_path / "a.lock"
    save_lock(lock_for(network, counts), file)
    model = str(network("digits_int8").model)  # type: ignore[attr-defined]
    assert main(["compile", model, "-t", "host", "-o", str(tmp_path / "out"), "--lock", str(file)]) == 2
    told = capsys.readouterr().err
    assert f"is stale: {why}" in told
    assert told.count("\n") == 1
    assert not (tmp_path / "out").exists(), "nothing was written"


def test_counts_choose_the_kernel(network: Callable[[str], object], tmp_path: Path) -> None:
    files, target = network("digits_int8"), tilewright.load_target("host")
    fast = replace(OPTIONS, optimize="speed")
    plain = compile_model(files.model, fast, target)  # type: ignore[attr-defined]
    choices = [b for b in plain.bound.nodes if sum(c.refusal is None for c in b.candidates) > 1]
    node = next(b for b in choices if b.call.node.op == "Conv")
    other = [c.kernel.name for c in node.candidates if c.refusal is None][-1]
    assert node.kernel is not None
    file = tmp_path / "a.lock"
    lock = Lock(
        VERSION, subject_of(plain.loaded.sha256, fast, target), {node.call.node.name: {node.kernel.name: 2, other: 1}}
    )
    save_lock(lock, file)
    locked = compile_model(files.model, replace(fast, lock=file), target)  # type: ignore[attr-defined]
    kernels = {b.call.node.name: b.kernel.name for b in locked.bound.nodes if b.kernel is not None}
    assert kernels[node.call.node.name] == other
