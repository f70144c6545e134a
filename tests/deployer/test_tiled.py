"""The tiling wrapper where there is something to tile: solutions given, kept, changed and refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import NetworkFiles
from tilewright.deployer import NetworkDeployer, TilerDeployerWrapper
from tilewright.errors import DoesNotFit, UsageError
from tilewright.options import CompileOptions
from tilewright.plugins import kernels_of, platform
from tilewright.schedule.request import Request, make_request
from tilewright.schedule.tiler import Tiler
from tilewright.target import Target, load_target
from tiling.cutting import PLATFORM
from tiling.networks import sized

Find = Callable[[str], NetworkFiles]
Make = Callable[[int], TilerDeployerWrapper]


@pytest.fixture
def made(network: Find, monkeypatch: pytest.MonkeyPatch) -> Make:
    """A wrapper for the test platform with a fast memory of so many bytes."""

    def make(size: int, name: str = "digits_int8") -> TilerDeployerWrapper:
        def request(source: Path, options: CompileOptions, target: Target) -> Request:
            asked = make_request(source, options, target)
            kernels = (*PLATFORM.own_kernels(), *kernels_of(platform("generic")))
            levels = (*sized(size), PLATFORM.memory[2])
            return replace(asked, platform=PLATFORM, kernels=kernels, levels=levels)

        monkeypatch.setattr("tilewright.deployer.network.make_request", request)
        return TilerDeployerWrapper(NetworkDeployer(network(name).model, load_target("host")))

    return make


def test_worst_case_of_every_level(made: Make) -> None:
    wrapper = made(2048)
    wrapper.front_end()
    wrapper.mid_end()
    sizes = wrapper.worst_case_buffer_size
    assert 0 < sizes["l1"] <= 2048
    assert sizes["l2"] == wrapper.placed.arena_bytes
    assert sizes["l3"] > 0


def test_a_solution_is_taken_back_as_it_was_given(made: Make) -> None:
    wrapper = made(2048)
    wrapper.front_end()
    wrapper.bind()
    solution, memory = wrapper.tiling_solution, wrapper.memory_map
    assert any(one.sizes for one in solution)
    wrapper.tile(solution, memory)
    assert wrapper.tiling_solution == solution
    assert wrapper.memory_map == memory


def test_a_solution_changed_by_hand_is_checked(made: Make) -> None:
    wrapper = made(2048)
    wrapper.front_end()
    wrapper.bind()
    solution, memory = wrapper.tiling_solution, wrapper.memory_map
    place = next(i for i, one in enumerate(solution) if "oh" in one.sizes or "oc" in one.sizes)
    one = solution[place]

    def with_one(**fields: object) -> None:
        changed = replace(one, **fields)  # type: ignore[arg-type]
        wrapper.tile((*solution[:place], changed, *solution[place + 1 :]), memory)

    with pytest.raises(UsageError, match="cannot be cut"):
        with_one(sizes={"ic": 1}, order=("ic",))
    with pytest.raises(UsageError, match="multiples of"):
        with_one(sizes={"oc": 3}, order=("oc",))
    with pytest.raises(UsageError, match="does not name the loops that are cut"):
        with_one(order=())
    with pytest.raises(UsageError, match="pinned, resident or streamed"):
        with_one(constants="elsewhere")
    with pytest.raises(UsageError, match="does not say how to cut"):
        wrapper.tile(solution[1:], memory)
    with pytest.raises(UsageError, match="twice"):
        wrapper.tile((*solution, solution[0]), memory)
    with pytest.raises(UsageError, match="no kernel that can be cut has that node"):
        wrapper.tile((replace(one, nodes=("nobody",)),), memory)


def test_a_solution_that_does_not_fit_is_refused(made: Make) -> None:
    wrapper = made(2048)
    wrapper.front_end()
    wrapper.bind()
    memory = wrapper.memory_map
    whole = tuple(replace(one, sizes={}, order=(), double=False) for one in wrapper.tiling_solution)
    with pytest.raises(DoesNotFit) as caught:
        wrapper.tile(whole, memory)
    assert caught.value.smallest["l1"] > 2048


def test_a_tiled_state_comes_back(made: Make, tmp_path: Path) -> None:
    first = made(2048)
    first.front_end()
    first.mid_end()
    first.export_state(tmp_path, "digits")
    second = made(2048)
    second.import_state(tmp_path, "digits")
    assert second.tiling_solution == first.tiling_solution
    assert second.memory_map == first.memory_map


def test_tile_buffers_lie_where_schedules_put_them(made: Make) -> None:
    """The part of the memory map that follows from the tiling is compared, not only looked for."""
    wrapper = made(2048)
    wrapper.front_end()
    wrapper.bind()
    solution, memory = wrapper.tiling_solution, wrapper.memory_map
    shifted = {name: offset + 4 for name, offset in memory["l1"].items()}
    with pytest.raises(UsageError, match="the memory map of 'l1' contradicts the tiling solution"):
        wrapper.tile(solution, {**memory, "l1": shifted})
    with pytest.raises(UsageError, match="the memory map of 'l1' contradicts the tiling solution"):
        wrapper.tile(solution, {"l2": memory["l2"]})


def test_a_solution_says_where_constants_are(made: Make) -> None:
    """Resident, streamed or pinned, as it was given; what is streamed is fetched before its node runs."""
    wrapper = made(2048)
    wrapper.front_end()
    wrapper.bind()
    solution = wrapper.tiling_solution
    place = next(i for i, one in enumerate(solution) if one.nodes == ("conv0",))
    for where in ("streamed", "resident"):
        asked = (*solution[:place], replace(solution[place], constants=where), *solution[place + 1 :])
        tiler = Tiler(wrapper.deployment)
        tiled = tiler.apply(asked)
        wrapper.tile(asked, tiler.compute_memory_map(tiled))
        assert wrapper.tiling_solution == asked
        assert ("conv0" in tiled.streamed) is (where == "streamed")


def test_another_tiler_may_be_given(made: Make) -> None:
    calls: list[str] = []

    class Counting(Tiler):
        def tiled(self):  # type: ignore[no-untyped-def]
            calls.append("tiled")
            return super().tiled()

    wrapper = made(2048)
    mine = TilerDeployerWrapper(wrapper.deployer, Counting)
    mine.front_end()
    mine.mid_end()
    assert calls == ["tiled"]
    assert isinstance(mine.tiler, Counting)
    assert mine.tiler.compute_tiling_schedule() == mine.tiling_solution
    assert mine.tiler.compute_memory_map(mine.tiled) == mine.memory_map


def test_too_small(made: Make) -> None:
    wrapper = made(200)
    wrapper.front_end()
    with pytest.raises(DoesNotFit) as caught:
        wrapper.mid_end()
    assert caught.value.code == 4
    assert caught.value.smallest["l1"] > 200
