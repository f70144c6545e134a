"""Regions of an ONNX network: which node belongs to which, and what joins them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from tilewright.errors import UsageError
from tilewright.model import Model
from tilewright.program.schema import CompileMode, Connection, Schema


def region_of(node: str, schema: Schema) -> str:
    """The region with the longest prefix of a node's name, "" where none has one; UsageError where two tie."""
    best: list[tuple[int, str]] = sorted(
        (
            (max(len(prefix) for prefix in region.nodes if node.startswith(prefix)), region.name)
            for region in schema.regions
            if any(node.startswith(prefix) for prefix in region.nodes)
        ),
        reverse=True,
    )
    if len(best) > 1 and best[0][0] == best[1][0]:
        raise UsageError(
            f"node '{node}' belongs to the regions '{best[0][1]}' and '{best[1][1]}'", why="their prefixes are equal",
            fix="make one prefix longer", node=node, file=schema.origin,
        )  # fmt: skip
    return best[0][1] if best else ""


def assign(names: Iterable[str], schema: Schema) -> dict[str, str]:
    """Node name to region, "" for nodes of none. UsageError for a prefix that no node has."""
    regions = {name: region_of(name, schema) for name in names}
    for region in schema.regions:
        if not region.nodes:
            raise UsageError(
                f"region '{region.name}' has no nodes", fix="give prefixes of node names in 'nodes'", file=schema.origin
            )
        for prefix in region.nodes:
            if not any(name.startswith(prefix) for name in regions):
                raise UsageError(
                    f"region '{region.name}': no node's name begins with '{prefix}'",
                    why=f"the first nodes are {', '.join(list(regions)[:5])}",
                    fix="see the names with 'tilewright compile --explain'", file=schema.origin,
                )  # fmt: skip
    return regions


def connected(model: Model, schema: Schema) -> Schema:
    """The schema with the connections that the network's tensors make between its regions."""
    places, producers = assign((node.name for node in model.nodes), schema), model.producers()
    connections: dict[Connection, None] = dict.fromkeys(schema.connections)
    for node in model.nodes:
        for name in node.inputs:
            if name in producers:
                pair = Connection(places[producers[name].name], places[node.name])
                if pair.source and pair.target and pair.source != pair.target:
                    connections[pair] = None
    return replace(schema, connections=tuple(connections))


def check_folded(names: Iterable[str], model: Model, schema: Schema) -> None:
    """UsageError where a node of a constant region still computes after the passes; names what it waits for.

    `names` are those of all nodes that the network had.
    """
    places = assign(names, schema)
    constant = {region.name for region in schema.regions if region.mode is CompileMode.CONSTANT}
    for node in model.nodes:
        region = places.get(node.name, region_of(node.name, schema))
        if region not in constant:
            continue
        waits = [name for name in node.inputs if name and name not in model.constants]
        raise UsageError(
            f"region '{region}' is to be constant, node '{node.name}' computes at run time",
            why=f"it reads '{waits[0]}'" if waits else "it has no operands",
            fix="freeze the inputs that the region reads with --freeze, or choose another mode", node=node.name,
            file=schema.origin,
        )  # fmt: skip
