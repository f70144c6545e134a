"""The C of a tile loop, read and played: what is computed again, which bytes are copied, and beside which tile."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from tilewright.deployer import NetworkDeployer, TilerDeployerWrapper
from tilewright.schedule.tiler import Tiler
from tilewright.target import load_target
from tilewright.tiling.solution import NodeTiling


def two_convolutions(path: Path) -> Path:
    """Two pointwise convolutions of codes, one after the other."""
    draw = np.random.default_rng(0)
    constants, nodes = [], []
    for number, name in enumerate(("one", "two")):
        values = {
            "xs": np.float32(0.1), "xz": np.int8(0), "w": draw.integers(-90, 90, (8, 8, 1, 1)).astype(np.int8),
            "ws": np.full(8, 0.01, np.float32), "wz": np.zeros(8, np.int8), "ys": np.float32(0.1), "yz": np.int8(0),
        }  # fmt: skip
        constants += [numpy_helper.from_array(np.asarray(v), f"{name}_{key}") for key, v in values.items()]
        names = [f"t{number}", *(f"{name}_{key}" for key in values)]
        nodes.append(helper.make_node("QLinearConv", names, [f"t{number + 1}"], name))
    ends = [helper.make_tensor_value_info(n, TensorProto.INT8, (1, 8, 6, 6)) for n in ("t0", "t2")]
    graph = helper.make_graph(nodes, "chain", ends[:1], ends[1:], constants)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path


@pytest.fixture(scope="module")
def wrapper(tmp_path_factory: pytest.TempPathFactory) -> TilerDeployerWrapper:
    """Both convolutions bound to the cluster's kernels."""
    source = two_convolutions(tmp_path_factory.mktemp("loops") / "net.onnx")
    made = TilerDeployerWrapper(NetworkDeployer(source, load_target("qemu_pulp")))
    made.front_end()
    made.bind()
    return made


def looped(wrapper: TilerDeployerWrapper, sizes: dict[str, int], double: bool = False, apart: bool = False) -> str:
    """The tile loop in C of both as one chain, cut like this; `apart` of the second one alone, the first one whole."""
    names = [name for one in wrapper.tiling_solution for name in one.nodes if name not in ("one", "two")]
    others = [NodeTiling((name,), {}, (), False) for name in names]
    chain = [NodeTiling(("one",), {}, (), False)] if apart else []
    chain.append(NodeTiling(("two",) if apart else ("one", "two"), sizes, tuple(sizes), double))
    solution = (*others, *chain)
    tiler = Tiler(wrapper.deployment)
    wrapper.tile(solution, tiler.compute_memory_map(tiler.apply(solution)))
    wrapper.back_end()
    code: str = wrapper.artifacts.files["src/net.c"]
    place = [found.start() for found in re.finditer(r"\d+ tiles \(o", code)][-1]
    return code[place:].partition("\n}\n")[0]


def table(code: str) -> list[str]:
    """The `computed` bits of every tile, where there are any."""
    return re.findall(r"\{\d+, \d+, (?:\d+, )*(\d)u, \{", code)


@pytest.mark.parametrize(
    ("sizes", "bits"), [({"oc": 4}, "32"), ({"oh": 3, "oc": 4}, "3232"), ({"oc": 4, "oh": 3}, None), ({"oh": 3}, None)]
)
def test_a_stage_whose_tile_stays_is_not_computed_again(
    wrapper: TilerDeployerWrapper, sizes: dict[str, int], bits: str | None
) -> None:
    """Channels of the second convolution need all of the first one's, so they do not change its tile; rows do."""
    code = looped(wrapper, sizes)
    guarded = re.findall(r"if \(\(tiles\[t\]\.computed & (\d)u\) != 0\) \{\s*tilewright_begin\(\w+, &work(\d)", code)
    calls = re.findall(r"tilewright_begin\(\w+, &work(\d)", code)
    assert calls == ["0", "1"]
    assert guarded == ([] if bits is None else [("1", "0")])
    assert table(code) == list(bits or "")


@dataclass(frozen=True)
class Copied:
    """A row of the table of copies."""

    near: int
    far: int
    size: int
    stride: int
    runs: int
    operand: int
    store: int

    @property
    def near_bytes(self) -> list[int]:
        """Bytes of the compute level."""
        return list(range(self.near, self.near + self.size * self.runs))

    @property
    def far_bytes(self) -> list[int]:
        """Bytes of the operand at home, in the order of `near_bytes`."""
        return [self.far + run * self.stride + byte for run in range(self.runs) for byte in range(self.size)]


@dataclass(frozen=True)
class Loop:
    """A tile loop: lists of copies before the first tile, beside or behind each, and behind all of them."""

    lists: tuple[tuple[Copied, ...], ...]
    buffers: tuple[tuple[int, ...], ...]
    names: tuple[str, ...]


def read(code: str) -> Loop:
    rows = re.findall(r"^        \{(\d+), (\d+), (\d+), (\d+), (\d+), (\d+), ([01])\},$", code, re.M)
    copies = [Copied(*map(int, row)) for row in rows]
    names = tuple(re.findall(r"^        int (at_\w+);$", code, re.M))
    listed = re.findall(r"^        \{((?:\d+, )*\d+), \{\.", code, re.M)
    tiles = [tuple(map(int, found.split(", "))) for found in listed]
    ends = [0, tiles[0][0], *(tile[1] for tile in tiles), len(copies)]
    assert [tile[0] for tile in tiles[1:]] == [tile[1] for tile in tiles[:-1]]
    lists = tuple(tuple(copies[a:b]) for a, b in itertools.pairwise(ends))
    return Loop(lists, tuple(tile[2:] for tile in tiles), names)


CUT = {"oh": 3, "ow": 3, "oc": 4}


@pytest.mark.parametrize("double", [False, True])
def test_every_byte_of_the_result_is_stored_once_from_where_it_was_computed(
    wrapper: TilerDeployerWrapper, double: bool
) -> None:
    loop = read(looped(wrapper, CUT, double, apart=True))
    stores = [row for rows in loop.lists for row in rows if row.store]
    assert sorted(byte for row in stores for byte in row.far_bytes) == list(range(8 * 6 * 6))
    by_tile = [stores[at : at + 3] for at in range(0, len(stores), 3)]
    assert len(by_tile) == len(loop.buffers) == 8
    for number, rows in enumerate(by_tile):
        first = rows[0].near
        assert [byte for row in rows for byte in row.near_bytes] == list(range(first, first + 3 * 3 * 4))
        if double:
            assert first == loop.buffers[number][loop.names.index("at_0_o_y")]
        rows_of_result = {byte // 48 for row in rows for byte in row.far_bytes}
        assert rows_of_result in ({0, 1, 2}, {3, 4, 5})


@pytest.mark.parametrize("double", [False, True])
def test_copies_beside_a_tile_leave_its_buffers_alone(wrapper: TilerDeployerWrapper, double: bool) -> None:
    """Beside tile t run the loads of the next one and the stores of the one before; with one buffer nothing does."""
    loop = read(looped(wrapper, CUT, double, apart=True))
    assert len(loop.lists) == len(loop.buffers) + 2
    assert not any(row.store for row in loop.lists[0])
    if not double:
        assert loop.names == ()
        assert all(any(row.store for row in rows) for rows in loop.lists[1:-1])
        return
    assert {"at_0_i_x", "at_0_o_y"} <= {*loop.names}
    assert not any(row.store for row in loop.lists[1])
    assert any(row.store for row in loop.lists[-1])
    for number, used in enumerate(loop.buffers):
        for row in loop.lists[number + 1]:
            result = used[loop.names.index("at_0_o_y")]
            assert row.store or row.near not in used
            assert not row.store or not result <= row.near < result + 3 * 3 * 4
