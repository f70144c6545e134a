"""The deepest path through a call graph, and what it cannot see."""

from __future__ import annotations

from pathlib import Path

from tilewright.run.stack import bound_beside, join_aliases, read_call_graph, stack_bound

GRAPH = r"""graph: { title: "a.c"
node: { title: "run" label: "run\na.c:1:1\n16 bytes (static)" }
node: { title: "a.c:deep" label: "deep\na.c:2:1\n100 bytes (static)" }
node: { title: "a.c:wide" label: "wide\na.c:3:1\n200 bytes (dynamic)" }
node: { title: "memcpy" label: "__builtin_memcpy\n<built-in>" shape : ellipse }
edge: { sourcename: "run" targetname: "a.c:deep" label: "a.c:1:2" }
edge: { sourcename: "a.c:deep" targetname: "memcpy" label: "a.c:2:2" }
edge: { sourcename: "run" targetname: "trace" label: "a.c:1:3" }
}
"""


def test_the_deepest_path(tmp_path: Path) -> None:
    (tmp_path / "a.ci").write_text(GRAPH)
    bound = stack_bound(read_call_graph([tmp_path / "a.ci"]), "run", frozenset({"trace"}))
    assert (bound.size_bytes, bound.path, bound.unknown) == (116, ("run", "deep"), ("memcpy",))
    assert not bound.proved


def test_what_cannot_be_seen_is_named(tmp_path: Path) -> None:
    more = GRAPH
    more += 'edge: { sourcename: "run" targetname: "a.c:wide" label: "" }\n'
    more += 'edge: { sourcename: "a.c:wide" targetname: "__indirect_call" label: "" }\n'
    more += 'edge: { sourcename: "a.c:deep" targetname: "run" label: "" }\n'
    (tmp_path / "a.ci").write_text(more)
    bound = stack_bound(read_call_graph([tmp_path / "a.ci"]), "run")
    assert (bound.size_bytes, bound.path) == (216, ("run", "wide"))
    assert bound.unknown == ("a call through a pointer", "memcpy", "recursion of run", "the frame of wide", "trace")


def test_functions_that_the_compiler_merged_keep_their_depth(tmp_path: Path) -> None:
    more = GRAPH + 'edge: { sourcename: "run" targetname: "a.c:same" label: "" }\n'
    more += 'node: { title: "a.c:long" label: "long\\na.c:9:1\\n300 bytes (static)" }\n'
    (tmp_path / "a.ci").write_text(more)
    graph = read_call_graph([tmp_path / "a.ci"])
    assert stack_bound(graph, "run").unknown == ("memcpy", "same", "trace")
    for merged in ({"same": "long"}, {"long": "same"}, {"long": "first", "same": "first"}):
        bound = stack_bound(join_aliases(graph, merged), "run")
        assert (bound.size_bytes, bound.path) == (316, ("run", "long"))
        assert bound.unknown == ("memcpy", "trace")


def test_what_calls_the_network_is_not_beside_it(tmp_path: Path) -> None:
    """A step of training runs where the network runs; a function whose address is handed on, on other cores."""
    more = GRAPH + 'node: { title: "step" label: "step\\na.c:7:1\\n900 bytes (static)" }\n'
    more += 'node: { title: "a.c:update" label: "update\\na.c:8:1\\n500 bytes (static)" }\n'
    more += 'node: { title: "a.c:core" label: "core\\na.c:9:1\\n40 bytes (static)" }\n'
    more += 'edge: { sourcename: "run" targetname: "a.c:wide" label: "" }\n'
    more += 'edge: { sourcename: "step" targetname: "run" label: "" }\n'
    more += 'edge: { sourcename: "step" targetname: "a.c:update" label: "" }\n'
    more += 'edge: { sourcename: "a.c:core" targetname: "a.c:deep" label: "" }\n'
    (tmp_path / "a.ci").write_text(more)
    bound = bound_beside(read_call_graph([tmp_path / "a.ci"]), "run")
    assert (bound.size_bytes, bound.path) == (140, ("core", "deep"))
