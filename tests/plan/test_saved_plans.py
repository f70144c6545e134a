"""A plan that is saved and loaded is the same plan; a file that is not what was saved is refused with a sentence."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from plan.plans import chain, plan_of, random_inputs
from tilewright.errors import StateError
from tilewright.graphs.saved import load_plan, save_plan
from tilewright.model import Length
from tilewright.plan.execute import run_slots


@pytest.mark.parametrize("name", ["digits", "digits_int8", "ad_int8", "dscnn_int8"])
def test_a_saved_plan_computes_the_same(network: Callable[[str], Any], tmp_path: Path, name: str) -> None:
    plan = plan_of(network(name).model)
    save_plan(plan, tmp_path / "plan.npz")
    again = load_plan(tmp_path / "plan.npz")
    assert [i.name for i in again.instructions] == [i.name for i in plan.instructions]
    assert again.slots == plan.slots
    assert all(a.kernel is b.kernel for a, b in zip(again.instructions, plan.instructions, strict=True))
    for mine, other in zip(again.frozen_slots, plan.frozen_slots, strict=True):
        assert np.array_equal(mine.constant.values, other.constant.values)
    inputs = random_inputs(plan)
    for one, same in zip(run_slots(again, inputs), run_slots(plan, inputs), strict=True):
        assert np.array_equal(one, same)


def test_kernels_come_back_as_the_core_with_vectors_saw_them(tmp_path: Path) -> None:
    """C that is made of a loaded plan has `restrict` where that of the plan itself has it."""
    plan = plan_of(chain(["Relu", "Exp"]))
    seen = [replace(i, kernel=i.kernel.on_core({"simd"}, ())) for i in plan.instructions]
    save_plan(replace(plan, instructions=tuple(seen)), tmp_path / "plan")
    again = load_plan(tmp_path / "plan")
    assert [i.kernel for i in again.instructions] == [i.kernel for i in seen]
    assert all(i.kernel.vectorised for i in again.instructions)


def test_the_same_plan_gives_the_same_bytes(tmp_path: Path) -> None:
    for name in ("a", "b"):
        save_plan(plan_of(chain(["Relu", "Add", "Exp"])), tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    save_plan(load_plan(tmp_path / "a"), tmp_path / "c")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "c").read_bytes()


def test_lengths_that_data_decides_are_saved_and_nonsense_in_their_place_is_refused(tmp_path: Path) -> None:
    plan = plan_of(chain(["Relu", "Exp"]))
    for axis, loads in ((0, True), (9, False), ("*/ int x;", False)):
        tensor = replace(plan.slots[0].tensor, lengths=(Length(axis, "count"),))  # type: ignore[arg-type]
        changed = replace(plan, slots=(replace(plan.slots[0], tensor=tensor), *plan.slots[1:]))
        save_plan(changed, tmp_path / "plan")
        if loads:
            assert load_plan(tmp_path / "plan").slots[0].tensor.lengths == (Length(0, "count"),)
            continue
        with pytest.raises(StateError):
            load_plan(tmp_path / "plan")


def rewrite(source: Path, target: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """Copy a saved plan with another header and the checksum that it had."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            if name == "header.json":
                header = json.loads(data)
                change(header)
                data = json.dumps(header).encode()
            new.writestr(name, data)


def test_a_file_that_says_something_else_is_refused(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.npz", tmp_path / "bad.npz"
    save_plan(plan_of(chain(["Relu", "Exp"])), good)
    rewrite(good, bad, lambda header: header.update(version=99))
    with pytest.raises(StateError, match="is of version 99: execution plans are written in version 2"):
        load_plan(bad)
    rewrite(good, bad, lambda header: header.update(kind="checkpoint"))
    with pytest.raises(StateError, match="holds no execution plan: it holds a checkpoint"):
        load_plan(bad)
    rewrite(good, bad, lambda header: header["body"]["fields"].update(name="other"))
    with pytest.raises(StateError, match="checksum of its header differs"):
        load_plan(bad)
    with pytest.raises(StateError, match="no readable execution plan"):
        load_plan(tmp_path / "absent.npz")


def test_a_plan_that_is_read_is_checked(tmp_path: Path) -> None:
    """The file is sound, what it says is not: an instruction reads a slot that is written later."""
    plan = plan_of(chain(["Softmax", "LogSoftmax"]))
    late = plan.instructions[1].outputs[0]
    first = replace(plan.instructions[0], inputs=(late,))
    save_plan(replace(plan, instructions=(first, *plan.instructions[1:])), tmp_path / "plan.npz")
    with pytest.raises(StateError, match=f"reads slot {late} before it is written"):
        load_plan(tmp_path / "plan.npz")


def test_every_damaged_byte_is_noticed(tmp_path: Path) -> None:
    good = tmp_path / "good.npz"
    plan = plan_of(chain(["Relu", "Softmax"]))
    save_plan(plan, good)
    data = good.read_bytes()
    generator = np.random.default_rng(7)
    refused = 0
    for _ in range(150):
        broken = bytearray(data)
        broken[int(generator.integers(len(data)))] ^= int(generator.integers(1, 256))
        bad = tmp_path / "bad.npz"
        bad.write_bytes(broken)
        try:
            again = load_plan(bad)
        except StateError:
            refused += 1
            continue
        # a byte that carries no meaning, e.g. a date in the archive
        assert [i.name for i in again.instructions] == [i.name for i in plan.instructions]
    assert refused > 100


def test_cut_files_are_refused(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.npz", tmp_path / "bad.npz"
    save_plan(plan_of(chain(["Relu", "Exp"])), good)
    data = good.read_bytes()
    for length in range(0, len(data), max(1, len(data) // 40)):
        bad.write_bytes(data[:length])
        with pytest.raises(StateError):
            load_plan(bad)


def test_a_kernel_that_is_gone_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tilewright.graphs import saved

    save_plan(plan_of(chain(["Relu"])), tmp_path / "plan.npz")
    monkeypatch.setattr(saved, "kernels_of", lambda _: ())
    with pytest.raises(StateError, match="platform 'generic' has no kernel 'ElementwiseLoops' for Relu any more"):
        load_plan(tmp_path / "plan.npz")
