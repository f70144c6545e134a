"""Tiling for any deployer: what is cut, and where every buffer of every level lies."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tilewright.binding.graph import BoundGraph
from tilewright.deployer.code import OrderError
from tilewright.deployer.network import NetworkDeployer
from tilewright.deployer.steps import generate_function, mid_end, prepare
from tilewright.deployer.verbosity import QUIET, CodeGenVerbosity
from tilewright.errors import UsageError
from tilewright.schedule.deployment import Deployment
from tilewright.schedule.moves.tiles import tiled_by
from tilewright.schedule.question import Cut
from tilewright.schedule.search import Found
from tilewright.schedule.tiler import MemoryMap, Tiler, memory_map_of, require_map
from tilewright.tiling.solution import TilingSolution, solution_of
from tilewright.tiling.tiled_graph import TiledGraph


class TilerDeployerWrapper:
    """Adds tiling and the placement of every level to a deployer; what it lacks, the inner deployer has.

    `test_name` and `work_dir` say where and under which name `tile` leaves its solution as a state; both or neither.
    """

    def __init__(
        self,
        deployer: NetworkDeployer | TilerDeployerWrapper,
        tiler_cls: type[Tiler] = Tiler,
        test_name: str | None = None,
        work_dir: Path | str | None = None,
    ) -> None:
        platform = deployer.request.platform
        if not platform.memory or all(level.name != platform.compute_in for level in platform.memory):
            raise UsageError(f"platform '{platform.name}' declares no memory to tile for",
                             why=f"it computes in '{platform.compute_in}'", fix="list its levels")  # fmt: skip
        if (test_name is None) != (work_dir is None):
            raise UsageError("test_name and work_dir belong together", fix="pass both or neither")
        self.deployer, self.tiler_cls = deployer, tiler_cls
        self.test_name, self.work_dir = test_name, None if work_dir is None else Path(work_dir)
        self.tiler: Tiler | None = None

    def __getattr__(self, name: str) -> Any:
        """Whatever the wrapper has not, the inner deployer has."""
        if name == "deployer":
            raise AttributeError(name)
        return getattr(self.deployer, name)

    @property
    def inner(self) -> NetworkDeployer:
        """The deployer inside of all wrappers."""
        return self.deployer.inner

    def front_end(self) -> None:
        """Load, lower and parse, as the inner deployer does."""
        self.deployer.front_end()

    def back_end(self, verbose: CodeGenVerbosity = QUIET) -> None:
        """Generate the code, as the inner deployer does."""
        self.deployer.back_end(verbose)

    def prepare(self, verbose: CodeGenVerbosity = QUIET) -> None:
        """The whole way, with tiling."""
        prepare(self, verbose)

    def mid_end(self) -> None:
        """Bind, tile, plan and place."""
        mid_end(self)

    def bind(self) -> bool:
        """Bind as the inner deployer does, then tile."""
        if not self.deployer.bind():
            return False
        self.tile()
        return True

    def tile(self, tiling_solution: TilingSolution | None = None, memory_map: MemoryMap | None = None) -> None:
        """Tile and place; a given solution and memory map are checked and then used instead of computed ones.

        UsageError where only one is given or where they are wrong; DoesNotFit where a level is too small.
        """
        if (tiling_solution is None) != (memory_map is None):
            raise UsageError("You need to provide both the tiling solution and the memory map to override tiling")
        inner = self.inner
        if not inner.bound or inner.deployment is None:
            raise OrderError("You need to bind the network before tiling!", fix="call bind() first")
        self.tiler = self.tiler_cls(inner.deployment)
        if tiling_solution is None or memory_map is None:
            inner.settle(tiled_by(inner.deployment, self._cut(inner.deployment)))
        else:
            self._take(inner, self.tiler.apply(tiling_solution), memory_map)
        if self.work_dir is not None and self.test_name is not None:
            self.work_dir.mkdir(parents=True, exist_ok=True)
            inner.export_state(self.work_dir, self.test_name)

    @property
    def tiling_solution(self) -> TilingSolution:
        """How every node is cut, as `tile` takes it."""
        inner = self.inner
        return solution_of(inner.needed(inner.tiled, "tile the network first", "bind()"))

    @property
    def memory_map(self) -> Mapping[str, Mapping[str, int]]:
        """Where every buffer lies, as `tile` takes it."""
        inner = self.inner
        return memory_map_of(inner.needed(inner.placed, "tile the network first", "bind()"))

    def generate_function(self, verbose: CodeGenVerbosity = QUIET) -> str:
        """Do what was not done yet, tiling as well, and give the C of the whole network."""
        return generate_function(self, verbose)

    def _cut(self, deployment: Deployment) -> Cut:
        def cut(graph: BoundGraph) -> TiledGraph:
            self.tiler = self.tiler_cls(deployment if graph is deployment.graph else deployment.with_kernels(graph))
            return self.tiler.tiled()

        return cut

    def _take(self, inner: NetworkDeployer, tiled: TiledGraph, memory_map: MemoryMap) -> None:
        assert inner.deployment is not None
        deployment = inner.searched_from(inner.deployment.with_tiles(tiled), "plan")
        home = deployment.plan.home or inner.request.platform.compute_in
        deployment = deployment.with_offsets(memory_map.get(home, {}))
        outcome = Found(deployment, deployment.finished(), ())
        require_map(outcome.placed, memory_map)
        inner.take(outcome)
