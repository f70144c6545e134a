"""The form in which a kernel's C stands today, to tell from a table of code sizes what it does not know or knows as it
was: templates and sources without comments, by name as the tables have it.

What Python writes into a template is not among it; the networks that `ci/measure_code.py` compiles hold that too.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Mapping
from hashlib import sha256
from pathlib import Path

import tilewright.codegen
from tilewright.conformance.boards import AIMS
from tilewright.plugins import kernels_of, platform
from tilewright.report.code_sizes import RUN, CoreSizes

TEMPLATES = Path(tilewright.codegen.__file__).parent / "templates"
WRITTEN = {
    RUN: ("run.c.mako",), "layer": ("tiled.c.mako", "sitting.c.mako", "sitting.h"),
    "core": ("cores.c.mako", "tilewright_cluster.h"),
    "fetch": ("staging.c.mako",), "input": ("port.c.mako",), "output": ("port.c.mako",),
    "rowchain": ("row_chain.c.mako", "row_chain.h"),
}  # fmt: skip
"""What no kernel declares."""
COPIES = frozenset({"layer", "core", "fetch"})
"""What is written for platforms alone that copy between memory levels."""
_COMMENT = re.compile(r"/\*.*?\*/|^\s*##.*?$|<%doc>.*?</%doc>", re.DOTALL | re.MULTILINE)


def forms(name: str, capabilities: Collection[str]) -> dict[str, str]:
    """The form of everything that the code of a platform can hold on a core with these capabilities."""
    chosen = platform(name)
    files: dict[str, set[Path]] = defaultdict(set)
    for kernel in kernels_of(chosen):
        if kernel.on_core(capabilities, AIMS).refusal is None:
            files[kernel.name.lower()] |= {kernel.template, *kernel.sources}
    for word, names in WRITTEN.items():
        if chosen.copies or word not in COPIES:
            files[word] |= {TEMPLATES / file for file in names}
    return {word: form(sorted(paths)) for word, paths in files.items()}


def form(paths: Collection[Path]) -> str:
    """A hash of files without their comments and white space."""
    texts = (" ".join(_COMMENT.sub("", path.read_text(encoding="utf-8")).split()) for path in paths)
    return sha256("\0".join(texts).encode()).hexdigest()[:10]


def not_measured(sizes: CoreSizes, today: Mapping[str, str]) -> frozenset[str]:
    """Kernels that a table does not know, or knows in another form than they have."""
    return frozenset(
        name for name, text in today.items() if name not in sizes.kernels or sizes.kernels[name].form != text
    )
