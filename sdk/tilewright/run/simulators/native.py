"""Images that are programs of this machine: run by themselves, or under callgrind to be counted."""

from __future__ import annotations

from pathlib import Path

from tilewright.run.callgrind import run_counted
from tilewright.run.counts import Counts
from tilewright.run.fence import FenceMap
from tilewright.run.image import Image
from tilewright.run.simulators.images import ImageSimulator
from tilewright.run.tool import Finished, start

_SANITIZER = {"ASAN_OPTIONS": "detect_leaks=0:abort_on_error=0:exitcode=77", "UBSAN_OPTIONS": "print_stacktrace=0"}


class Native(ImageSimulator):
    """A program of this machine. Its fence is the address sanitizer's."""

    on_this_machine = True
    port = "host.c"
    # fixed addresses, so that dumps and fences can name bytes; no lazy binding, which would be counted
    link_flags = ("-no-pie", "-Wl,-z,now")
    sanitizer_fences = True
    bounds_stack = False  # x86-64 lets a leaf use 128 bytes that -fstack-usage does not count

    def command(self, image: Image) -> list[str]:
        """The image itself, with what the target puts around it."""
        return [word.replace("{elf}", str(image.path)) for word in image.target.command]

    def start(
        self, image: Image, folder: Path, count: bool, fence: FenceMap | None, timeout: float
    ) -> tuple[Finished, Counts | None]:
        """Run by itself, or under callgrind."""
        if count:
            return run_counted(image, folder, timeout)
        return start(self.command(image), folder, timeout=timeout, environment=_SANITIZER), None


SIMULATOR = Native()
