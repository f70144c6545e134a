"""A tile loop computes a stage of a chain only where its tile has changed: the others find the result still there."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from tilewright.deployer import NetworkDeployer, TilerDeployerWrapper
from tilewright.target import load_target
from tilewright.tiling.tiler import NodeTiling, Tiler


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


def looped(folder: Path, sizes: dict[str, int]) -> str:
    """The tile loop in C of both as one chain, cut like this."""
    wrapper = TilerDeployerWrapper(NetworkDeployer(two_convolutions(folder / "net.onnx"), load_target("qemu_pulp")))
    wrapper.front_end()
    wrapper.bind()
    others = tuple(one for one in wrapper.tiling_solution if not {"one", "two"} & {*one.nodes})
    solution = (*others, NodeTiling(("one", "two"), sizes, tuple(sizes), False))
    tiler = Tiler(wrapper.graph, wrapper.request.levels)
    wrapper.tile(solution, tiler.compute_memory_map(tiler.apply(solution)))
    wrapper.back_end()
    code: str = wrapper.artifacts.files["src/net.c"]
    (place,) = [found.start() for found in re.finditer(r"\d+ tiles \(o", code)]
    return code[place:].partition("\n}\n")[0]


def table(code: str) -> list[str]:
    """The `computed` bits of every tile, where there are any."""
    return re.findall(r"\{\d+, \d+, (?:\d+, )*(\d)u, \{", code)


@pytest.mark.parametrize(
    ("sizes", "bits"), [({"oc": 4}, "32"), ({"oh": 3, "oc": 4}, "3232"), ({"oc": 4, "oh": 3}, None), ({"oh": 3}, None)]
)
def test_a_stage_whose_tile_stays_is_not_computed_again(tmp_path: Path, sizes: dict[str, int], bits: str | None) -> None:
    """Channels of the second convolution need all of the first one's, so they do not change its tile; rows do."""
    code = looped(tmp_path, sizes)
    guarded = re.findall(r"if \(\(tiles\[t\]\.computed & (\d)u\) != 0\) \{\s*tilewright_begin\(\w+_core(\d)", code)
    calls = re.findall(r"tilewright_begin\(\w+_core(\d)", code)
    assert calls == ["0", "1"]
    assert guarded == ([] if bits is None else [("1", "0")])
    assert table(code) == list(bits or "")
