"""Decisions as JSON, to the letter: what is written is read back as an equal value."""

from __future__ import annotations

from typing import Any

from tilewright.schedule.decisions import Again, Decisions, RowChain
from tilewright.tiling.solution import NodeTiling


def decisions_out(decisions: Decisions) -> dict[str, Any]:
    """The JSON of decisions."""
    return {
        "order": list(decisions.order),
        "kernels": dict(decisions.kernels),
        "row_chains": [_chain_out(chain) for chain in decisions.row_chains],
        "tiles": None if decisions.tiles is None else [_tiling_out(one) for one in decisions.tiles],
        "stacks_beside": decisions.stacks_beside,
        "aliased": sorted(decisions.aliased),
        "recomputed": [{"node": one.node, "before": one.before} for one in decisions.recomputed],
        "states_in_place": None if decisions.states_in_place is None else sorted(decisions.states_in_place),
        "offsets": None if decisions.offsets is None else dict(decisions.offsets),
    }


def decisions_in(entry: Any) -> Decisions:
    """The decisions of a JSON object; KeyError, TypeError or ValueError where something is missing or wrong."""
    tiles, offsets, states = entry["tiles"], entry["offsets"], entry["states_in_place"]
    return Decisions(
        order=tuple(str(name) for name in entry["order"]),
        kernels={str(node): str(kernel) for node, kernel in entry["kernels"].items()},
        row_chains=tuple(map(_chain_in, entry["row_chains"])),
        tiles=None if tiles is None else tuple(_tiling_in(item) for item in tiles),
        stacks_beside=bool(entry["stacks_beside"]),
        aliased=frozenset(str(name) for name in entry["aliased"]),
        recomputed=tuple(Again(str(item["node"]), str(item["before"])) for item in entry["recomputed"]),
        states_in_place=None if states is None else frozenset(str(name) for name in states),
        offsets=None if offsets is None else {str(name): int(offset) for name, offset in offsets.items()},
    )


def _chain_out(chain: RowChain) -> dict[str, Any]:
    return {"nodes": list(chain.nodes), "rows": chain.rows, "single_rows": chain.single_rows}


def _chain_in(item: Any) -> RowChain:
    return RowChain(tuple(map(str, item["nodes"])), int(item["rows"]), bool(item.get("single_rows")))


def _tiling_out(one: NodeTiling) -> dict[str, Any]:
    return {"nodes": list(one.nodes), "sizes": dict(one.sizes), "order": list(one.order), "double": one.double,
            "constants": one.constants, "starts": dict(one.starts)}  # fmt: skip


def _tiling_in(one: Any) -> NodeTiling:
    sizes = {str(name): int(size) for name, size in one["sizes"].items()}
    return NodeTiling(
        tuple(map(str, one["nodes"])), sizes, tuple(map(str, one["order"])), bool(one["double"]),
        str(one["constants"]), {str(key): int(start) for key, start in one.get("starts", {}).items()},
    )  # fmt: skip
