"""From networks placed together to one folder of C: a header each, one for all of them, and one file of weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from tilewright.codegen.artifacts import Artifacts, Parts, Piece, Texts
from tilewright.codegen.binary_weights import lay_out, pieces
from tilewright.codegen.bundle_text import BundleText, StateText
from tilewright.codegen.c_types import constant_type, packed
from tilewright.codegen.comments import safe
from tilewright.codegen.constant_array import ConstantArray
from tilewright.codegen.emit import (
    HALVES,
    TEMPLATES,
    build_number,
    calls_text,
    definitions,
    in_binary,
    needs_math,
    network_text,
    parts_of,
    ports_text,
)
from tilewright.codegen.functions import render_functions
from tilewright.codegen.interface import Interface
from tilewright.codegen.network_text import FastMemory, Level, NetworkText
from tilewright.codegen.render import render
from tilewright.codegen.shared import Shared
from tilewright.codegen.states import first_names, first_values, states_text
from tilewright.codegen.tiled import HEADER
from tilewright.ieee import ieee
from tilewright.memory.needs import MemoryReport
from tilewright.memory.placed import PlacedPlan
from tilewright.memory.together import Together
from tilewright.memory.together_levels import common_levels
from tilewright.options import Weights
from tilewright.platform import MemoryLevel
from tilewright.version import VERSION


@dataclass(frozen=True)
class BundleArtifacts:
    """The project of a bundle, with the same files as each network sees them, and bytes of every level without code.

    `shares` are what each network takes of the bundle.
    """

    project: Artifacts
    networks: tuple[Artifacts, ...]
    shares: tuple[Shared, ...]
    levels: Mapping[str, MemoryReport]


@ieee
def emit_bundle(
    kit: Together,
    levels: Sequence[MemoryLevel],
    flags: Sequence[str],
    weights: Weights = "c",
    more: tuple[str, ...] = (),
) -> BundleArtifacts:
    """Render the project; arguments are those of `emit`, for all networks at once. `more` C files are built with it."""
    constants, shares = _constants(kit)
    members = [
        _member(placed, levels, flags, share) for placed, share in zip(kit.placed, shares, strict=True)
    ]  # fmt: skip
    tables = sum(tables for _, _, tables in members)
    constant_bytes = tables + sum(packed(one.dtype, one.values).nbytes for one in constants)
    rows = common_levels(kit, levels, constant_bytes, tables)
    shown = _bundle(kit, [one for one, _, _ in members], constants, constant_bytes, rows, flags, weights)
    shown = replace(shown, more=more)
    parts = [parts_of(one) for one in shown.networks]
    models = "".join(placed.plan.sha256 for placed in kit.placed)
    build = build_number(models, constants, lambda number, elements: _files(shown, parts, number, elements))
    texts = _files(shown, parts, build, [constant.text for constant in constants])
    if shown.fast is not None:
        texts[f"src/{HEADER}"] = ((TEMPLATES / HEADER).read_text(),)
    if any(one.halves for one in shown.networks):
        texts[f"src/{HALVES}"] = ((TEMPLATES / HALVES).read_text(),)
    binaries = {_binary_path(shown): partial(pieces, lay_out(constants))} if shown.binary else {}
    own = Parts(f"src/{shown.name}.c", _weights_path(shown))
    project = Artifacts(
        Texts(texts), own, Interface(shown.name, (), ()), constant_bytes, (), binaries=binaries, table_bytes=tables,
        wide_core=any(bool(one.limits) for one in shown.networks),
    )  # fmt: skip
    interfaces = [shown.interface(one) for one in shown.networks]
    networks = tuple(
        replace(project, parts=replace(part, weights=_weights_path(shown)), interface=own, functions=names)
        for own, part, (_, names, _) in zip(interfaces, parts, members, strict=True)
    )
    return BundleArtifacts(project, networks, tuple(shares), rows)


def _binary_path(shown: BundleText) -> str:
    return f"src/{shown.name}_weights.bin"


def _weights_path(shown: BundleText) -> str:
    return f"src/{shown.name}_weights.{'S' if shown.binary else 'c'}"


def _constants(kit: Together) -> tuple[list[ConstantArray], list[Shared]]:
    """All arrays of the weights file, and what each network takes of them."""
    arrays = list[ConstantArray]()
    read: list[dict[int, str]] = [{} for _ in kit.placed]
    for number, one in enumerate(kit.constants):
        network, slot = one.readers[0]
        constant = kit.placed[network].plan.frozen_slots[slot].constant
        readers = ", ".join(dict.fromkeys(kit.placed[n].plan.name for n, _ in one.readers))
        name, count = f"{kit.name}_c{number}", int(packed(one.dtype, one.values).size)
        comment = f"{safe(constant.name)} of {readers}"
        arrays.append(ConstantArray(name, constant_type(one.dtype), count, comment, one.dtype, one.values))
        for network, slot in one.readers:
            read[network][slot] = name
    first: list[dict[int, str]] = [{} for _ in kit.placed]
    for state in kit.states:
        stored = ""
        for network, number in state.owners:
            plan = kit.placed[network].plan
            wanted = first_names(plan).get(number, "")
            if wanted and not stored:
                stored = wanted
                arrays += [one for one in first_values(plan) if one.name == wanted]
            if wanted:
                first[network][number] = stored
    shares = [
        Shared(kit.name, alone, constants, values, kit.settling)
        for alone, constants, values in zip(kit.alone, read, first, strict=True)
    ]
    return arrays, shares


def _member(
    placed: PlacedPlan, levels: Sequence[MemoryLevel], flags: Sequence[str], share: Shared
) -> tuple[NetworkText, tuple[str, ...], int]:
    """A network's own files as they are printed, its functions' names, and bytes of tables."""
    plan, alone = placed.plan, share.alone
    functions = render_functions(placed, plan.name, share.memories, share.addresses)
    shown = network_text(alone, levels, flags, functions, {}, False)
    shown = replace(
        shown, kit=share.kit,
        inputs=ports_text(placed, plan.input_slots, "input", share.memories),
        outputs=ports_text(placed, plan.output_slots, "output", share.memories),
        calls=calls_text(placed, functions, share.memories),
        states=states_text(placed, share.memories, share.first_values, alone.state_bytes),
    )  # fmt: skip
    return shown, functions.names, functions.table_bytes


def _bundle(
    kit: Together, networks: Sequence[NetworkText], constants: Sequence[ConstantArray], constant_bytes: int,
    rows: Mapping[str, MemoryReport], flags: Sequence[str], weights: Weights,
) -> BundleText:  # fmt: skip
    names = [placed.plan.name for placed in kit.placed]
    states = tuple(
        StateText(
            number, one.offset, one.size_bytes,
            f"state {number}: '{safe(one.name)}' of {', '.join(dict.fromkeys(names[n] for n, _ in one.owners))}",
        )
        for number, one in enumerate(kit.states)
    )  # fmt: skip
    return BundleText(
        name=kit.name, upper=kit.name.upper(), tool=f"tilewright {VERSION}", networks=tuple(networks),
        bases=kit.bases, arena_bytes=kit.arena_bytes, align=max(kit.align, 8), state_bytes=kit.state_bytes,
        states=states, constant_bytes=constant_bytes, levels=tuple(_level(name, row) for name, row in rows.items()),
        constants=tuple(constants), needs_math=needs_math(constants),
        binary=in_binary(constants, constant_bytes, weights), flags=" ".join(flags), cmake_flags=";".join(flags),
        concurrent=tuple((names[a], names[b]) for a, b in sorted(kit.concurrent)),
        fast=_fast(kit.name, networks), settling=kit.settling,
    )  # fmt: skip


def _fast(kit: str, networks: Sequence[NetworkText]) -> FastMemory | None:
    """The compute level with room for the tiles of each network; None where none has tiles."""
    each = [one.fast for one in networks if one.fast is not None]
    largest = max(each, key=lambda one: one.size_bytes + 4 * one.words, default=None)
    return None if largest is None else replace(largest, name=f"{kit}_{largest.macro.lower()}")


def _level(name: str, row: MemoryReport) -> Level:
    told = ", ".join(f"{part.replace('_', ' ')} {size}" for part, size in row.parts().items() if size)
    return Level(name, name.upper(), row.worst_case, row.size, told or "nothing", False)


def _files(
    shown: BundleText, parts: Sequence[Parts], build: str, elements: Sequence[Piece]
) -> dict[str, tuple[Piece, ...]]:
    """Every file by path; `elements` are the texts of the constants' elements."""
    name = shown.name
    own = {
        f"src/{name}.h": "bundle.h.mako",
        f"src/{name}_internal.h": "bundle_internal.h.mako",
        f"src/{name}.c": "bundle.c.mako",
        "Makefile": "bundle_Makefile.mako",
        "CMakeLists.txt": "bundle_CMakeLists.txt.mako",
    }
    texts: dict[str, tuple[Piece, ...]] = {
        path: (render(TEMPLATES / template, m=shown, build=build),) for path, template in own.items()
    }
    for one, part in zip(shown.networks, parts, strict=True):
        for suffix in (".h", ".c", "_internal.h"):
            template = TEMPLATES / f"model{suffix}.mako"
            texts[f"src/{one.name}{suffix}"] = (render(template, m=one, parts=part, build=build),)
    head = render(TEMPLATES / f"model_weights.{'S' if shown.binary else 'c'}.mako", m=shown, build=build)
    written = definitions(shown.constants, elements, shown.upper, _binary_path(shown) if shown.binary else "")
    return {**texts, _weights_path(shown): (head, *written)}


def saved_bytes(kit: Together) -> int:
    """Bytes of constants that the image holds once and would hold several times."""
    return sum(packed(one.dtype, one.values).nbytes * (len(one.readers) - 1) for one in kit.constants)
