"""The description of a CMSIS-Pack: which cores and compilers may take the library, and the files it consists of.

https://open-cmsis-pack.github.io/Open-CMSIS-Pack-Spec: an XML file `VENDOR.NAME.pdsc` of schema PACK.xsd.
"""

from __future__ import annotations

import shutil
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tilewright.codegen.render import render
from tilewright.errors import UnsupportedError
from tilewright.project.cores import ARM, WIDE

if TYPE_CHECKING:
    from tilewright.project.library import Library

VENDOR = "tilewright"
SCHEMA_VERSION = "1.7.7"
"""The first release of the schema whose names we need; tools read packs of an older schema than their own."""
LONGEST_NAME = 32
"""Characters that the schema gives the name of a component."""
_DATE = (1980, 1, 1, 0, 0, 0)


@dataclass(frozen=True)
class Filter:
    """Attributes of one <accept>: a core, and what it must have been built with."""

    core: str
    dsp: bool = False
    mve: str = ""

    @property
    def attributes(self) -> str:
        """The attributes as text, each after a blank."""
        dsp = ' Ddsp="DSP"' if self.dsp else ""
        return f' Dcore="{self.core}"{dsp}' + (f' Dmve="{self.mve}"' if self.mve else "")


_MAY_MVE = ("Cortex-M52", "Cortex-M55", "Cortex-M85")
_VECTORS = tuple(Filter(core, mve=mve) for core in _MAY_MVE for mve in ("FP_MVE", "MVE"))
_ALWAYS_DSP = tuple(Filter(core) for core in ("Cortex-M4", "Cortex-M7", "Cortex-M52", "Cortex-M55", "Cortex-M85"))
_MAY_DSP = ("Cortex-M33", "Cortex-M35P", "Star-MC1")
_DSP = (*_ALWAYS_DSP, *(Filter(core, dsp=True) for core in _MAY_DSP))
_MAIN = (Filter("Cortex-M3"), Filter("SC300"), *_ALWAYS_DSP, *map(Filter, _MAY_DSP))
_BASE = (*map(Filter, ("Cortex-M0", "Cortex-M0+", "Cortex-M1", "Cortex-M23", "SC000")), *_MAIN)
_CORES = {
    "cortex-m0": _BASE, "cortex-m0plus": _BASE, "cortex-m23": _BASE, "cortex-m3": _MAIN, "cortex-m4": _DSP,
    "cortex-m7": _DSP, "cortex-m33": _DSP, "cortex-m55": _VECTORS,
}  # fmt: skip
"""By the core for which kernels were chosen: the cores with its instructions. Another name is taken for all of them."""


@dataclass(frozen=True)
class PackFile:
    """A file of the component, by its place in the pack; `attributes` are those beside name and category."""

    name: str
    category: str
    attributes: str = ""


def can_be_packed(library: Library) -> bool:
    """False for code that was chosen for a core that no CMSIS-Pack knows."""
    return library.boards in (ARM, WIDE) or library.boards.architectures == ("*",)


def description(library: Library) -> tuple[str, str]:
    """Name and text of the .pdsc; UnsupportedError for another core than Arm's."""
    if not can_be_packed(library):
        raise UnsupportedError(
            f"--project cmsis-pack cannot pack '{library.name}'", why="its kernels are for cores that are not Arm's",
            fix="compile it for a Cortex-M, or for the target 'host'",
        )  # fmt: skip
    template = Path(__file__).parent / "templates" / "pdsc.mako"
    names = {
        "m": library, "vendor": VENDOR, "schema": SCHEMA_VERSION, "cores": cores(library),
        "files": pack_files(library), "compilers": compilers(library), "part": component_name(library),
    }  # fmt: skip
    return f"{VENDOR}.{library.name}.pdsc", render(template, **names)


def component_name(library: Library) -> str:
    """The library's name as that of a component: it begins with a letter or digit, and a long one is cut."""
    name = library.name.lstrip("_") or "network"
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 7]}-{library.sha256[:6]}"


def write_pack(library: Library, folder: Path) -> None:
    """Write `VENDOR.NAME.VERSION.pack` into a written project: the archive that IDEs import; same files, same bytes."""
    names = [f"{VENDOR}.{library.name}.pdsc", *(file.name for file in pack_files(library))]
    path = folder / f"{VENDOR}.{library.name}.{library.version}.pack"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in names:
            entry = zipfile.ZipInfo(name, _DATE)
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            entry.file_size = (folder / name).stat().st_size
            with (folder / name).open("rb") as source, archive.open(entry, "w") as member:
                shutil.copyfileobj(source, member, 1 << 20)


def cores(library: Library) -> Sequence[Filter]:
    """The cores that have the instructions of the kernels; none for C that any core runs."""
    return _CORES.get(library.core, ())


def compilers(library: Library) -> tuple[str, ...]:
    """Compilers as the schema names them; weights in GNU's assembler are for those that read it."""
    return ("ARMCC", "CLANG", "GCC") if library.assembler else ("ARMCC", "CLANG", "GCC", "IAR")


def pack_files(library: Library) -> tuple[PackFile, ...]:
    """Headers, sources, weights, and the example as a template."""
    listed = [PackFile(f"src/{header}", "header") for header in library.headers]
    for source in library.sources:
        language = "asm" if source.endswith(".S") else "c"
        listed.append(PackFile(f"src/{source}", "source", f' language="{language}"'))
    if library.weights_file:
        listed.append(PackFile(f"src/{library.weights_file}", "other"))
    listed += [PackFile(blob, "other") for blob in library.blobs]
    select = f' attr="template" select="One inference of {library.name}" language="c"'
    return (*listed, PackFile("examples/cmsis-pack/main.c", "source", select))
