"""The lock file: what is written is read, and every other file is refused in a sentence, with exit code 2."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import tilewright
from tilewright.binding.lock import Lock, Subject, load_lock, require, save_lock, subject_of
from tilewright.cli import main
from tilewright.compile import compile_model
from tilewright.errors import StateError, UsageError
from tilewright.options import CompileOptions
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
    "counts", [{"conv": {"A": "1"}}, {"conv": {"A": -1}}, {"conv": {"A": True}}, {"conv": [1]}, [1]]
)
def test_what_is_no_count_is_refused(tmp_path: Path, counts: object) -> None:
    """The file is whole and its checksum right, but what it counts is no number of instructions."""
    lock = Lock(VERSION, Subject("m", "t", "s", "o"), {"conv": {"A": 1}})
    save_lock(lock, tmp_path / "a.lock")
    value = json.loads((tmp_path / "a.lock").read_text())
    del value["checksum"]
    value["counts"] = counts
    checksum = hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()
    (tmp_path / "a.lock").write_text(json.dumps({**value, "checksum": checksum}))
    with pytest.raises(StateError, match="a field is missing or has another type"):
        load_lock(tmp_path / "a.lock")


def test_options_that_change_nodes_are_part_of_what_was_counted(tmp_path: Path) -> None:
    target = tilewright.load_target("host")
    (tmp_path / "w.npy").write_bytes(b"1")
    plain = subject_of("00", OPTIONS, target)
    assert plain == subject_of("00", replace(OPTIONS, io="caller"), target)
    changed = [
        replace(OPTIONS, optimize="speed"), replace(OPTIONS, quantized_io=True), replace(OPTIONS, integer_only=True),
        replace(OPTIONS, shapes={"x": (1, 2)}), replace(OPTIONS, shapes={"x": (2, 2)}),
        replace(OPTIONS, freeze={"w": tmp_path / "w.npy"}), replace(OPTIONS, disabled_passes=frozenset({"fold"})),
    ]  # fmt: skip
    subjects = [subject_of("00", options, target).options for options in (OPTIONS, *changed)]
    assert len({*subjects}) == len(subjects)
    (tmp_path / "w.npy").write_bytes(b"2")
    assert subject_of("00", changed[5], target).options not in subjects


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
