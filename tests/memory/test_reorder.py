"""The best order of operators against all topological orders, in-place hints, large graphs, and refusals."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator

import pytest
from tilewright.errors import UsageError
from tilewright.memory.reorder import OrderNode, OrderProblem, peak_of, reorder


def random_graph(seed: int, count: int, reach: int = 6) -> OrderProblem:
    """Nodes that read one to three earlier tensors, some in place, some with scratch or two results."""
    dice = random.Random(seed)
    sizes = {"in": dice.randint(1, 20)}
    nodes = []
    for index in range(count):
        earlier = list(sizes)[-reach:]
        reads = tuple(dice.sample(earlier, min(len(earlier), dice.choice([1, 1, 2, 3]))))
        writes = tuple(f"t{index}_{k}" for k in range(dice.choice([1, 1, 1, 2])))
        for name in writes:
            sizes[name] = dice.randint(0, 20)
        in_place = ((reads[0], writes[0]),) if dice.random() < 0.4 else ()
        nodes.append(OrderNode(f"n{index}", reads, writes, dice.choice([0, 0, 5]), in_place))
    read = {name for node in nodes for name in node.reads}
    return OrderProblem(tuple(nodes), sizes, frozenset(set(sizes) - read - {"in"}))


def topological_orders(problem: OrderProblem, done: tuple[int, ...] = ()) -> Iterator[tuple[int, ...]]:
    if len(done) == len(problem.nodes):
        yield done
    made = {name for index in done for name in problem.nodes[index].writes}
    inputs = set(problem.sizes) - {name for node in problem.nodes for name in node.writes}
    for index, node in enumerate(problem.nodes):
        if index not in done and all(name in made | inputs for name in node.reads):
            yield from topological_orders(problem, (*done, index))


def simulated_peak(problem: OrderProblem, order: tuple[int, ...]) -> int:
    """Bytes alive step by step, straight from the definition."""
    first = {name: -1 for name in problem.sizes}
    last = dict(first)
    for place, index in enumerate(order):
        for name in problem.nodes[index].writes:
            first[name] = last[name] = place
        for name in problem.nodes[index].reads:
            last[name] = place
    peak = 0
    for place, index in enumerate(order):
        node = problem.nodes[index]
        alive = [n for n in problem.sizes if first[n] <= place and (last[n] >= place or n in problem.kept)]
        saved = sum(
            min(problem.sizes[read], problem.sizes[written])
            for read, written in node.in_place
            if last[read] == place and read not in problem.kept
        )
        peak = max(peak, sum(problem.sizes[name] for name in alive) + node.scratch - saved)
    return peak


@pytest.mark.parametrize("block", range(6))
def test_the_exact_order_is_the_best_of_all(block: int) -> None:
    better = 0
    for seed in range(20 * block, 20 * block + 20):
        problem = random_graph(seed, 7)
        found = reorder(problem)
        peaks = [simulated_peak(problem, order) for order in topological_orders(problem)]
        places = {node.name: index for index, node in enumerate(problem.nodes)}
        assert found.proved
        assert found.peak == min(peaks) == found.lower_bound, seed
        assert simulated_peak(problem, tuple(places[name] for name in found.nodes)) == found.peak
        assert found.model_peak == simulated_peak(problem, tuple(range(7)))
        better += found.peak < found.model_peak
    assert better >= 3


def test_branches_are_finished_one_after_the_other() -> None:
    sizes = {"x": 1, "a": 100, "b": 100, "c": 1, "d": 1, "y": 1}
    nodes = (
        OrderNode("wide a", ("x",), ("a",)),
        OrderNode("wide b", ("x",), ("b",)),
        OrderNode("narrow a", ("a",), ("c",)),
        OrderNode("narrow b", ("b",), ("d",)),
        OrderNode("join", ("c", "d"), ("y",)),
    )
    found = reorder(OrderProblem(nodes, sizes, frozenset({"y"})))
    assert found.model_peak == 201
    assert found.peak == 102
    assert found.nodes == ("wide a", "narrow a", "wide b", "narrow b", "join")


def test_the_models_order_stays_where_nothing_is_better() -> None:
    problem = random_graph(1, 30, reach=1)
    assert reorder(problem).nodes == tuple(node.name for node in problem.nodes)


def test_several_writers_share_one_tensor() -> None:
    nodes = (
        OrderNode("left", ("x",), ("whole",)),
        OrderNode("right", ("x",), ("whole",)),
        OrderNode("use", ("whole",), ("y",)),
    )
    problem = OrderProblem(nodes, {"x": 10, "whole": 40, "y": 1}, frozenset({"y"}))
    assert peak_of(problem, ["right", "left", "use"]) == 50
    with pytest.raises(UsageError, match="'use' comes before what it reads"):
        peak_of(problem, ["left", "use", "right"])


def test_a_large_graph_is_improved_and_its_bound_is_honest() -> None:
    problem = random_graph(5, 300, reach=40)
    found = reorder(problem, effort=0.2)
    assert found.lower_bound <= found.peak < found.model_peak
    assert peak_of(problem, found.nodes) == found.peak
    assert found == reorder(problem, effort=0.2)


def test_a_graph_out_of_order_is_put_in_order() -> None:
    nodes = (OrderNode("second", ("a",), ("b",)), OrderNode("first", ("x",), ("a",)))
    found = reorder(OrderProblem(nodes, {"x": 1, "a": 2, "b": 3}))
    assert found.nodes == ("first", "second")


@pytest.mark.parametrize(
    ("nodes", "sentence"),
    [
        (
            (OrderNode("p", ("b",), ("a",)), OrderNode("q", ("a",), ("b",))),
            "the nodes p -> q -> p form a cycle",
        ),
        ((OrderNode("p", ("z",), ("a",)),), "node 'p' names 'z': no size is given for it"),
        ((OrderNode("p", ("a",), ("a",)),), "node 'p' both reads and writes 'a'"),
        ((OrderNode("p", ("n",), ("a",)),), "tensor 'n' has -1 bytes: a size cannot be negative"),
        (
            (OrderNode("p", ("b",), ("a",), 0, (("a", "b"),)),),
            "node 'p' cannot put 'b' on 'a': it reads or writes no such tensor",
        ),
    ],
)
def test_a_bad_graph_is_refused_with_a_sentence(nodes: tuple[OrderNode, ...], sentence: str) -> None:
    with pytest.raises(UsageError) as caught:
        reorder(OrderProblem(nodes, {"a": 1, "b": 1, "n": -1}))
    assert str(caught.value) == sentence


def test_two_results_do_not_take_one_operands_bytes() -> None:
    """Either of them may lie on what dies, so 10 of 30 bytes are saved, not 20; nor does one lie on two operands."""
    both = OrderNode("n", ("a",), ("b", "c"), 0, (("a", "b"), ("a", "c")))
    assert peak_of(OrderProblem((both,), {"a": 10, "b": 10, "c": 10}, frozenset({"b"})), ["n"]) == 20
    twice = OrderNode("n", ("a", "d"), ("b",), 0, (("a", "b"), ("d", "b")))
    assert peak_of(OrderProblem((twice,), {"a": 10, "b": 20, "d": 10}, frozenset({"b"})), ["n"]) == 30


def test_orders_of_two_results_that_may_lie_on_the_same_operands_are_the_best() -> None:
    dice = random.Random(1)
    for _ in range(60):
        names, nodes = ["x", "z"], list[OrderNode]()
        for index in range(dice.randint(2, 5)):
            reads, writes = tuple(dice.sample(names, dice.randint(1, 2))), (f"p{index}", f"q{index}")
            nodes.append(OrderNode(f"n{index}", reads, writes, 0, tuple(itertools.product(reads, writes))))
            names += writes
        sizes = {name: dice.randint(1, 9) for name in names}
        problem = OrderProblem(tuple(nodes), sizes, frozenset(dice.sample(names[2:], 2)))
        found = reorder(problem)
        assert found.proved
        orders = ([nodes[index].name for index in order] for order in topological_orders(problem))
        assert found.peak == min(peak_of(problem, order) for order in orders)


def test_results_that_stay_prove_the_given_order() -> None:
    """A thousand results of one tensor, all kept: no search is needed, as they are alive together in every order."""
    nodes = (
        OrderNode("first", ("x",), ("a",)),
        *(OrderNode(f"n{i}", ("a",), (f"b{i}",), 0, (("a", f"b{i}"),)) for i in range(1000)),
    )
    kept = frozenset(f"b{i}" for i in range(1000))
    found = reorder(OrderProblem(nodes, {"x": 8, "a": 8, **dict.fromkeys(kept, 8)}, kept))
    assert (found.peak, found.lower_bound, found.proved, found.cut_off) == (8000, 8000, True, False)


def test_a_search_beyond_its_work_ends_and_says_so() -> None:
    """Six hundred nodes are ready at once: each step costs more, so that fewer are tried."""
    dice = random.Random(2)
    sizes = {"x": 1, "y": 1}
    nodes = []
    for index in range(600):
        sizes |= {f"a{index}": dice.randint(1, 50), f"b{index}": dice.randint(1, 50)}
        nodes.append(OrderNode(f"a{index}", ("x",), (f"a{index}",)))
        nodes.append(OrderNode(f"b{index}", (f"a{index}",), (f"b{index}",)))
    nodes.append(OrderNode("end", tuple(f"b{index}" for index in range(600)), ("y",)))
    problem = OrderProblem(tuple(nodes), sizes, frozenset({"y"}))
    found = reorder(problem, effort=0.05)
    assert (found.cut_off, found.proved) == (True, False)
    assert found.peak <= found.model_peak
    assert found.peak == peak_of(problem, found.nodes)
    small = random_graph(3, 7)
    assert not reorder(small).cut_off
