"""CP-SAT asked yes or no: is there a placement within so many bytes?

Minimising the peak is the wrong question (sixty times slower where it ends at all); with the capacity fixed at the
lower bound the offsets have little room and most networks fall within milliseconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tilewright.memory.allocators import greedy
from tilewright.memory.allocators.allocator import Allocator, Answer, Found, Task, close
from tilewright.memory.allocators.core import decide_core
from tilewright.memory.packing import Packing, alive_together

if TYPE_CHECKING:
    from ortools.sat.python.cp_model import CpModel


DETERMINISTIC_SECONDS = 0.1  # of CP-SAT's own clock per unit of effort; four seconds of a slow machine


def decide(packing: Packing, capacity: int, effort: float) -> Answer:
    """Whether the packing fits into `capacity` bytes; one worker, deterministic work limit."""
    return decide_core(packing, capacity, effort, _decide)


def place(task: Task) -> Found:
    """Starts from the greedy result and closes the gap from the bound upwards."""
    return close(task, greedy.place(task), decide)


def _decide(packing: Packing, capacity: int, effort: float) -> Answer:
    """The question for a core that lives together.

    The items alive at a moment exclude each other, one set at a time: with one worker this beats rectangles in time
    and address with eight.
    """
    from ortools.sat.python import cp_model

    model = cp_model.CpModel()
    variables: list[Any] = []
    for index, item in enumerate(packing.items):
        highest = packing.highest(item, capacity)
        if highest < 0 or (item.pinned is not None and item.pinned > highest):
            return Answer(None, True, 0.0)
        variables.append(_offset(model, item.align, item.pinned, highest, f"offset_{index}"))
    _separate(model, packing, variables)
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.random_seed = 0
    solver.parameters.max_deterministic_time = effort * DETERMINISTIC_SECONDS
    status = solver.solve(model)
    work = float(solver.response_proto.deterministic_time) / DETERMINISTIC_SECONDS
    if status in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return Answer(tuple(int(solver.value(variable)) for variable in variables), False, work)
    return Answer(None, status == cp_model.INFEASIBLE, work)


def _offset(model: CpModel, align: int, pinned: int | None, highest: int, name: str) -> Any:
    """The variable of one offset in units."""
    if pinned is not None:
        return model.new_constant(pinned)
    if align == 1:
        return model.new_int_var(0, highest, name)
    return align * model.new_int_var(0, highest // align, name)


def _separate(model: CpModel, packing: Packing, variables: Sequence[Any]) -> None:
    """States that rivals stay apart."""
    address = [
        model.new_fixed_size_interval_var(variable, item.size, f"address_{index}")
        for index, (variable, item) in enumerate(zip(variables, packing.items, strict=True))
    ]
    usual = [
        {rival.other for rival in rivals if rival.low == -item.size and rival.high == packing.items[rival.other].size}
        for item, rivals in zip(packing.items, packing.rivals, strict=True)
    ]
    for clique in _cliques(packing, usual):
        model.add_no_overlap([address[index] for index in clique])
    for index, rivals in enumerate(packing.rivals):
        for rival in rivals:
            if index < rival.other and rival.other not in usual[index]:
                above = model.new_bool_var(f"above_{index}_{rival.other}")
                model.add(variables[index] >= variables[rival.other] + rival.high).only_enforce_if(above)
                model.add(variables[index] <= variables[rival.other] + rival.low).only_enforce_if(~above)


def _cliques(packing: Packing, usual: Sequence[set[int]]) -> list[list[int]]:
    """Sets of items that exclude each other pair by pair and cover all such pairs."""
    cliques: list[list[int]] = []
    for alive in alive_together(packing):
        if len(alive) == 1:
            continue
        odd = [i for i in alive if any(j != i and j not in usual[i] for j in alive)]
        common = [i for i in alive if i not in odd]
        if not odd:
            cliques.append(alive)
            continue
        classes: list[list[int]] = []
        for i in odd:
            home = next((group for group in classes if all(j in usual[i] for j in group)), None)
            if home is None:
                classes.append([i])
            else:
                home.append(i)
        cliques += [common + group for group in classes]
        cliques += [
            [i, j] for i in odd for j in odd if i < j and j in usual[i] and not any(i in g and j in g for g in classes)
        ]
    return cliques


ALLOCATOR = Allocator("cp_sat", "CP-SAT asked yes or no at the lower bound, one worker", place)
