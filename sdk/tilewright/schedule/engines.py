"""Which engine computes a layer: the one whose kernel takes the fewest modelled cycles, copies of its tiles counted.

Every layer is asked for itself, cut as it would be cut alone. `--engine NAME` takes one engine wherever it has a
kernel, or leaves all but the cores out. Counts of a lock file, which are taken in the simulator, overrule the model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from tilewright.binding.graph import Candidate
from tilewright.binding.layouts import demanded, resulting
from tilewright.binding.lock import order_of
from tilewright.binding.order import Order, Orders
from tilewright.layout import Layout
from tilewright.model import Model
from tilewright.ops.operator import Call
from tilewright.platform import Kernel, Operands
from tilewright.schedule.request import Request
from tilewright.schedule.stacks import reserved_for_stacks
from tilewright.tiling.hierarchy import Hierarchy, hierarchy
from tilewright.tiling.options import Fronts
from tilewright.tiling.schedule import last_tiles
from tilewright.tiling.stages import work_of
from tilewright.tiling.subject import Subject, subject_of
from tilewright.tiling.switches import TileOptions, hierarchy_for
from tilewright.tiling.walk import Cut

NEVER = 1 << 62
"""More cycles than anything takes."""


@dataclass(frozen=True)
class LayerTimes:
    """Modelled cycles of layers by kernel, each layer cut as if it were alone; asked once for each."""

    levels: Hierarchy
    fronts: Fronts
    known: dict[tuple[str, str, str], tuple[Subject, Cut] | None] = field(default_factory=dict)

    def cycles(self, call: Call, kernel: Kernel) -> int | None:
        """Of one call by a kernel that computes tiles; None for one that does not, or of which no tile fits."""
        alone = self._alone(call, kernel)
        return None if alone is None else alone[1].cycles

    def jobs(self, call: Call, kernel: Kernel) -> tuple[int, int] | None:
        """Cycles that all jobs of a call take the engine, and the cores; None where that is not known."""
        alone = self._alone(call, kernel)
        if alone is None:
            return None
        subject, cut = alone
        engine = cores = 0.0
        for tile in last_tiles(subject.stages[-1].extents, cut.sizes, cut.order):
            times = kernel.job_times(call, {name: high - low for name, (low, high) in tile.items()})
            if times is None:
                return None
            engine, cores = engine + times.jobs * times.engine, cores + times.jobs * times.cores
        return round(engine), round(cores)

    def _alone(self, call: Call, kernel: Kernel) -> tuple[Subject, Cut] | None:
        key = (call.node.name, kernel.platform, kernel.name)
        if key not in self.known:
            self.known[key] = self._cut(call, kernel)
        return self.known[key]

    def _cut(self, call: Call, kernel: Kernel) -> tuple[Subject, Cut] | None:
        if not kernel.tileable:
            return None
        tensors = [tensor for tensor in (*call.inputs, *call.outputs) if tensor is not None]
        layouts = {tensor.name: Layout.default(tensor.shape) for tensor in tensors}
        layouts |= demanded(kernel.layout, call, layouts)
        layouts |= resulting(kernel.layout, call, layouts)
        work = work_of(call, kernel, layouts, kernel.constants(Operands(call, layouts)))
        subject = subject_of([work], self.levels)
        cuts = self.fronts.of(subject) if subject is not None else ()
        return (subject, cuts[-1]) if subject is not None and cuts else None


def layer_times(request: Request) -> LayerTimes | None:
    """What compares the engines of a platform; None where it has one, or copies nothing into a compute level."""
    if len(request.platform.engines) < 2:
        return None
    reserved = reserved_for_stacks(request.platform, request.levels, request.stacks, beside=True)
    whole = hierarchy(request.platform, request.levels, reserved)
    if whole is None:
        return None
    options = TileOptions.without(request.options.disabled_passes)
    levels = hierarchy_for(whole, options)
    return LayerTimes(levels, Fronts(levels.capacity, options.objective))


def orders_of(request: Request) -> Orders:
    """The order of kernels for a model: of its engines the fastest first, else as `order_of`."""
    usual = order_of(request.options, request.target, request.kernels)
    times = layer_times(request)
    if times is None or request.options.lock is not None:
        return usual

    def orders(model: Model) -> Order:
        inner = usual(model)
        return lambda call, accepted: _by_engine(call, inner(call, accepted), times, request.options.engine)

    return orders


def firsts(accepted: Sequence[Candidate]) -> dict[str, Kernel]:
    """Of every engine the kernel that comes first."""
    by_engine: dict[str, Kernel] = {}
    for candidate in accepted:
        if candidate.kernel.tileable:
            by_engine.setdefault(candidate.kernel.engine, candidate.kernel)
    return by_engine


def _by_engine(call: Call, ordered: Sequence[Candidate], times: LayerTimes, wanted: str) -> Sequence[Candidate]:
    engines = firsts(ordered)
    if len(engines) < 2:
        return ordered
    cost = {name: times.cycles(call, kernel) for name, kernel in engines.items()}
    rank = {name: NEVER if cycles is None else -1 if name == wanted else cycles for name, cycles in cost.items()}
    return sorted(ordered, key=lambda c: rank.get(c.kernel.engine, NEVER) if c.kernel.tileable else NEVER)
