"""PULP clusters in GVSoC, which models time: every run is counted in cycles, by the core's own counter."""

from __future__ import annotations

import re
import struct
from pathlib import Path

from tilewright.errors import ToolMissing, UsageError
from tilewright.run.counts import Counts, Span, SpanKind
from tilewright.run.fence import FenceMap
from tilewright.run.image import Image
from tilewright.run.result import read_result
from tilewright.run.simulators.images import ImageSimulator
from tilewright.run.tool import Finished, start

SPANS: tuple[SpanKind, ...] = ("layer", "kernel", "copy", "wait")
_COMPONENT = re.compile(r"Couldn't find component \(name: ([\w./-]+)\)")


class Gvsoc(ImageSimulator):
    """A chip of GVSoC. It takes no plugin, so it has no fence."""

    def counts(self, image: Image) -> bool:
        """Time costs nothing to read."""
        return True

    def by_clock(self, image: Image, count: bool) -> bool:
        """The core's cycle counter is the only one."""
        return count

    def timed(self, folder: Path) -> tuple[int | None, tuple[Span, ...]]:
        """Cycles of the inference and, where the image has trace, of all that its firmware was asked for."""
        file = folder / "profile.bin"
        raw = struct.unpack(f"<{file.stat().st_size // 4}I", file.read_bytes()) if file.is_file() else ()
        rows = zip(raw[::3], raw[1::3], raw[2::3], strict=True)
        spans = tuple(Span(what >> 3, SPANS[what & 7], at, cycles) for what, at, cycles in rows)
        return read_result(folder).ticks + 1, spans

    def start(
        self, image: Image, folder: Path, count: bool, fence: FenceMap | None, timeout: float
    ) -> tuple[Finished, Counts | None]:
        """Start the simulator; cycles come by `timed`."""
        if fence is not None:
            raise UsageError(
                f"target '{image.target.name}' cannot fence", why="its simulator does not take the QEMU plugin"
            )
        done = start(self.command(image), folder, timeout=timeout)
        if missing := _COMPONENT.search(done.errors + done.output):
            raise ToolMissing(
                f"gvsoc lacks the model of {missing[1]}",
                why=f"it was built without the parts of target '{image.target.name}' is made of",
                fix="build it with TARGETS='pulp-open;siracusa', beside the headers of the Debian packages "
                "'libxtensor-dev', 'libxsimd-dev' and 'xtl-dev'",
            )
        return done, None


SIMULATOR = Gvsoc()
