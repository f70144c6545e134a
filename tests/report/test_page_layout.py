"""The drawing of a graph, names, scales and the timeline: values of the page, held by hand counts."""

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from tilewright.report.build import LayerReport, load
from tilewright.report.names import short_names
from tilewright.report.page.graph import graph_view
from tilewright.report.page.layered import GAP_ACROSS, layered
from tilewright.report.page.scale import byte_ticks, count_ticks, percent, round_bytes, round_count
from tilewright.report.page.timeline import spans_of, timeline
from tilewright.report.tile_times import TileCycles, TileReport, TimelineReport

SAMPLE = load(Path(__file__).with_name("sample_report.json"))
BOX = (100.0, 40.0)


def test_a_chain_is_drawn_straight_beside_its_long_edge() -> None:
    drawing = layered([BOX] * 5, [(0, 1), (1, 2), (2, 3), (0, 3), (3, 4)])
    assert len({round(x) for x, _ in drawing.corners}) == 1, "all nodes in one column"
    assert [y for _, y in drawing.corners] == sorted({y for _, y in drawing.corners}), "downwards"
    skip = drawing.routes[3]
    assert len(skip) == 6, "through a place in each of the two ranks that it passes"
    assert all(abs(x - skip[0][0]) >= BOX[0] / 2 + GAP_ACROSS for x, _ in skip[1:-1]), "beside the nodes"


def test_nodes_of_a_rank_keep_their_distance() -> None:
    drawing = layered([BOX] * 6, [(0, 1), (0, 2), (0, 3), (0, 4), (1, 5), (2, 5), (3, 5), (4, 5)])
    row = sorted(x for x, y in drawing.corners[1:5])
    assert all(right - left >= BOX[0] + GAP_ACROSS - 1e-6 for left, right in pairwise(row))
    assert drawing.corners[0][0] == pytest.approx(sum(row) / 4), "the source in their middle"
    assert layered([], []).corners == ()


def test_edges_that_lead_back_are_no_trouble() -> None:
    assert len(layered([BOX] * 2, [(0, 1), (1, 0), (1, 1)]).routes) == 3


def test_dense_graphs_have_bounded_lanes() -> None:
    count = 120
    drawing = layered([BOX] * count, [(a, b) for b in range(count) for a in range(b)])
    assert len(drawing.routes) == count * (count - 1) // 2


def test_short_names_are_the_shortest_unique_parts() -> None:
    joined = "net/conv_{0}/BiasAdd;net/bn_{0}/FusedBatchNormV3;net/conv_{0}/Conv2D"
    names = [
        joined.format(1),
        joined.format(2),
        "plain",
        "relu_7_QuantizeLinear_Output",
        "relu_8_QuantizeLinear_Output",
    ]
    assert list(short_names(names).values()) == ["conv_1", "conv_2", "plain", "relu_7", "relu_8"]
    assert len(short_names(["x" * 5000])["x" * 5000]) <= 26
    assert short_names(["a/b;" * 3000 + "end"])


def test_a_chain_is_named_by_its_ends() -> None:
    nodes = [[f"model/block_{n}/gate/Sigmoid", f"model/block_{n}/gate/Mul"] for n in (1, 2)]
    names = [" + ".join(pair) for pair in nodes]
    assert list(short_names(names).values()) == ["block_1/gate/Sigmoid … Mul", "block_2/gate/Sigmoid … Mul"]
    assert short_names(["conv_3 + conv_5"])["conv_3 + conv_5"] == "conv_3 + conv_5"
    far = f"{'a' * 200} + {'b' * 200}"
    assert len(short_names([far])[far]) <= 26


def test_scales_have_round_ticks() -> None:
    assert [tick.label for tick in byte_ticks(5376)] == ["0 B", "1 KiB", "2 KiB", "3 KiB", "4 KiB", "5 KiB"]
    assert [tick.label for tick in count_ticks(1_232_251)][:3] == ["0", "200 k", "400 k"]
    assert (round_bytes(1536), round_count(16_565_744), percent(1, 3000)) == ("1.5 KiB", "16.6 M", "< 0.1 %")
    assert byte_ticks(0)[0].at == 0


def tiled(**changes: object) -> LayerReport:
    layer = replace(SAMPLE.layers[0], modelled_cycles=100, timeline=TimelineReport((20, 60, 65, 95), (10, 20, 20, 65)))
    return replace(layer, **changes)  # type: ignore[arg-type]


def test_the_timeline_says_what_waits() -> None:
    found = timeline([tiled(), replace(SAMPLE.layers[1], modelled_cycles=300)], {x.name: x.name for x in SAMPLE.layers})
    assert found is not None
    assert (found.total, found.computing, found.waiting) == ("400", "92 %", "7.5 %")
    assert (found.stretches[1].x, found.stretches[1].width) == (25, 75)
    assert found.stretches[0].copies == "M10 0H65V1H10Z", "bars that touch are one"
    assert (found.engine, found.stretches[0].engine) == ("", "")
    jobs = replace(tiled(), timeline=TimelineReport((30, 60, 65, 95), (10, 20), (0, 30, 30, 65), "npu"))
    three = timeline([jobs], {jobs.name: jobs.name})
    assert three is not None
    assert three.engine == "npu"
    assert three.stretches[0].engine == "M0 0H65V1H0Z"
    assert "npu 65" in three.stretches[0].title
    assert timeline(SAMPLE.layers, {x.name: x.name for x in SAMPLE.layers}) is None


def test_measured_tiles_go_before_modelled_ones() -> None:
    one = TileReport({"n": 0}, {"n": 8}, {"l2>l1": 64}, TileCycles(40, 30, 10), TileCycles(50, 30, 10))
    spans = spans_of(tiled(profile=(one, one)), True)
    assert spans is not None
    assert (spans.cores, spans.copies, spans.length) == ((10, 60, 70, 120), (0, 30, 60, 90), 120)


def test_chains_are_boxes_with_their_members() -> None:
    first, second, *_ = SAMPLE.layers
    layers = (
        replace(first, operands=("image",), fused_into=second.name),
        replace(second, operands=tuple(result.tensor for result in first.results) or ("image",)),
    )
    view = graph_view(replace(SAMPLE, layers=layers), {x.name: x.name for x in layers})
    assert view is not None
    group = view.groups[0]
    assert (group.kind, group.label, group.layer) == ("fused", "2 layers, tile by tile", 1)
    inside = [node for node in view.nodes if node.kind == "inside"]
    assert len(inside) == 2
    assert all(group.x < n.x and n.x + n.width < group.x + group.width for n in inside)
    assert all(group.y < n.y and n.y + n.height < group.y + group.height for n in inside)
