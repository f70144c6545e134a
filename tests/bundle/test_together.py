"""Networks placed together: the arena of the larger, what is shared, what is refused; faults that the checker sees."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import onnx
import pytest
from bundle.pairs import PAIRS, convolutional, language_model
from state.networks import filtered
from tilewright.bundle import Bundle, BundleWish, compile_bundle
from tilewright.errors import TilewrightError, UnsupportedError, UsageError
from tilewright.memory.check_together import check_together
from tilewright.memory.together import Together, offsets_apart, place_together
from tilewright.options import CompileOptions, StateWish
from tilewright.target import load_target

STATES = StateWish(tuple((a, b) for a, _, b in (pair.partition("=") for pair in PAIRS.split(","))))
H = StateWish((("h", "h_out"),))
NO_STATE, PLAIN = StateWish(), CompileOptions()


def bundled(
    folder: Path, models: dict[str, onnx.ModelProto], state: StateWish = NO_STATE, *, target: str = "host",
    name: str = "kit", concurrent: tuple[tuple[str, ...], ...] = (), options: CompileOptions = PLAIN,
) -> Bundle:  # fmt: skip
    for key, model in models.items():
        onnx.save(model, folder / f"{key}.onnx")
    sources = [folder / f"{key}.onnx" for key in models]
    return compile_bundle(sources, replace(options, state=state), load_target(target), BundleWish(name, concurrent))


@pytest.fixture(scope="module")
def halves(tmp_path_factory: pytest.TempPathFactory) -> Bundle:
    networks = {"prefill": language_model(4), "decode": language_model(1)}
    return bundled(tmp_path_factory.mktemp("halves"), networks, STATES, target="qemu_mps2_an386")


@pytest.fixture(scope="module")
def words(tmp_path_factory: pytest.TempPathFactory) -> Bundle:
    networks = {"wake": convolutional(8, 20, 0), "command": convolutional(24, 40, 1)}
    return bundled(tmp_path_factory.mktemp("words"), networks, concurrent=(("wake", "command"),))


def test_prefill_and_decode_share_weights_and_states(halves: Bundle) -> None:
    together, report = halves.together, halves.report
    assert together.arena_bytes == max(one.arena_bytes for one in together.alone)
    assert [state.owners for state in together.states] == [((0, 0), (1, 0)), ((0, 1), (1, 1))]
    assert together.state_bytes == together.alone[1].state_bytes
    assert report.bundle is not None
    decode = report.networks[1].memory["flash"]
    assert report.bundle.shared_arrays == report.bundle.arrays
    assert report.memory["flash"].constants == decode.constants
    ram = report.memory["ram"]
    assert ram.worst_case == together.arena_bytes + together.state_bytes + (ram.stack or 0)
    assert type(report).from_json(report.to_json()) == report


def test_networks_that_never_run_at_a_time_share_an_arena_of_the_larger(tmp_path: Path, words: Bundle) -> None:
    networks = {"wake": convolutional(8, 20, 0), "command": convolutional(24, 40, 1)}
    sizes = [one.arena_bytes for one in words.together.alone]
    assert bundled(tmp_path, networks).together.arena_bytes == max(sizes)
    assert words.together.arena_bytes == sum(sizes)


@pytest.mark.parametrize("seed", range(4))
def test_offsets_are_the_best_that_there_are(seed: int) -> None:
    draw = np.random.default_rng(seed)
    sizes = [int(size) for size in draw.integers(0, 6, 4)]
    apart = {(a, b) for a in range(4) for b in range(a + 1, 4) if draw.random() < 0.5}

    def end(offsets: tuple[int, ...]) -> int:
        return max(at + size for at, size in zip(offsets, sizes, strict=True))

    def fine(offsets: tuple[int, ...]) -> bool:
        return all(offsets[a] + sizes[a] <= offsets[b] or offsets[b] + sizes[b] <= offsets[a] for a, b in apart)

    found = offsets_apart(sizes, apart)
    assert fine(found)
    assert end(found) == min(end(tried) for tried in product(range(sum(sizes) + 1), repeat=4) if fine(tried))


def _one_byte(found: Together) -> Together:
    first = found.constants[0]
    values = first.values.copy()
    values.view(np.uint8).reshape(-1)[-1] ^= 1
    return replace(found, constants=(replace(first, values=values), *found.constants[1:]))


def _lost(found: Together) -> Together:
    return replace(found, constants=found.constants[1:])


def _moved_state(found: Together) -> Together:
    plan = found.placed[1]
    offsets = {slot: at + 16 for slot, at in plan.state_offsets.items()}
    return replace(found, placed=(found.placed[0], replace(plan, state_offsets=offsets)))


def _both_at_a_time(found: Together) -> Together:
    return replace(found, concurrent=frozenset({(0, 1)}))


def _over_each_other(found: Together) -> Together:
    low = [replace(one, slot_offsets=alone.slot_offsets, scratch_offsets=alone.scratch_offsets)
           for one, alone in zip(found.placed, found.alone, strict=True)]  # fmt: skip
    return replace(found, placed=tuple(low), bases=(0, 0))


def _small_arena(found: Together) -> Together:
    return replace(found, arena_bytes=found.arena_bytes - 64)


@pytest.mark.parametrize(
    ("which", "fault", "why"),
    [
        ("halves", _one_byte, "is not the array that it shares"),
        ("halves", _lost, "constants have no array"),
        ("halves", _moved_state, "lies at"),
        ("halves", _both_at_a_time, "and both may run at a time"),
        ("words", _over_each_other, "share bytes, and both may run at a time"),
        ("words", _small_arena, "leaves the arena"),
    ],
)
def test_a_planted_fault_is_seen(
    which: str, fault: Callable[[Together], Together], why: str, request: pytest.FixtureRequest
) -> None:
    bundle: Bundle = request.getfixturevalue(which)
    check_together(bundle.together)
    with pytest.raises(TilewrightError, match=why):
        check_together(fault(bundle.together))


def _narrow() -> onnx.ModelProto:
    model = filtered()
    for value in model.graph.input:
        value.type.tensor_type.shape.dim[1].dim_value = 4
    return model


@pytest.mark.parametrize(
    ("models", "given", "why"),
    [
        (("a", "A"), {}, "is called 'A' in C, and so is"),
        (("kit", "b"), {}, "and so is the bundle"),
        (("a", "b"), {"name": "a b"}, "--bundle 'a b' cannot begin names in C; take 'a_b'"),
        (("a", "b"), {"concurrent": (("a", "c"),)}, "--concurrent: there is no network 'c'"),
        (("a", "b"), {"concurrent": (("a", "a"),)}, "one network alone runs beside no other"),
        (("a", "b"), {"concurrent": (("a", "b"),)}, "they may run at a time, and both write it"),
        (("a", "narrow"), {}, r"it is f32\[1, 8\] there and f32\[1, 4\] here"),
        (("a", "b"), {"state": StateWish((("g", "h_out"),))}, "no network has an input 'g'"),
        (("a", "b"), {"options": CompileOptions(context=True)}, "--context and --bundle: it applies to one network"),
    ],
)  # fmt: skip
def test_what_cannot_be_one_image_is_refused(
    tmp_path: Path, models: tuple[str, ...], given: dict[str, object], why: str
) -> None:
    networks = {name: _narrow() if name == "narrow" else filtered() for name in models}
    with pytest.raises((UsageError, UnsupportedError), match=why):
        bundled(tmp_path, networks, **{"state": H, **given})  # type: ignore[arg-type]


def test_tiles_lie_over_one_another_and_not_at_a_time(tmp_path: Path) -> None:
    networks = {"a": convolutional(24, 40, 0), "b": convolutional(8, 20, 1)}
    found = bundled(tmp_path, networks, target="qemu_pulp")
    alone = [one.memory["l1"].worst_case for one in found.report.networks]
    assert found.report.memory["l1"].worst_case == max(alone) > min(alone) > 0
    with pytest.raises(UnsupportedError, match="'a' cannot run while 'b' does: it runs in tiles on 'pulp'"):
        bundled(tmp_path, networks, target="qemu_pulp", concurrent=(("a", "b"),))
    at_a_time = replace(found.together, concurrent=frozenset({(0, 1)}))
    with pytest.raises(TilewrightError, match="tiles of 'a' and 'b' share a memory"):
        check_together(at_a_time)


def test_networks_at_home_in_two_memories_share_no_arena(words: Bundle) -> None:
    wake, command = words.together.alone
    with pytest.raises(
        UnsupportedError, match="'command' cannot share an arena with 'wake': its activations lie in 'x'"
    ):
        place_together("kit", [wake, replace(command, level="x")])
