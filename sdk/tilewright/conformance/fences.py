"""Fences around every operand, result, constant and scratch of a drawn call: AddressSanitizer names what crosses one.

Storages are spread over the arena with gaps between them, and the gaps are closed while the network runs. A result
that may lie over an operand gets memory of its own here; the unfenced comparison covers it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from tilewright.codegen.emit import emit
from tilewright.codegen.parameters import parameters
from tilewright.conformance.subject import Subject
from tilewright.memory.placed import PlacedPlan
from tilewright.plan.aliasing.alias_sets import view_shift
from tilewright.plan.liveness import storages
from tilewright.platform import Kernel, Platform

FLAGS = ("-fsanitize=address", "-fno-omit-frame-pointer")
MARK = "fence error: "
_GAP = 128
_UNIT = """#include <stdio.h>
#include <stddef.h>

typedef struct { const char *name; const void *start; size_t size; } tilewright_fence;
const tilewright_fence *tilewright_fences;
int tilewright_fence_count;
void *__asan_get_report_address(void);
int __asan_get_report_access_type(void);
size_t __asan_get_report_access_size(void);
void __asan_on_error(void);
const char *__asan_default_options(void);

const char *__asan_default_options(void)
{
    return "log_path=asan:detect_leaks=0";
}

/* The nearest of the call's regions, and by how much the access lies before its start or past its end. */
void __asan_on_error(void)
{
    const unsigned char *at = __asan_get_report_address();
    const tilewright_fence *nearest = NULL;
    long least = 0, side = 0;
    for (int i = 0; i < tilewright_fence_count; i++) {
        const unsigned char *start = tilewright_fences[i].start;
        const long before = (long)(start - at), past = (long)(at - start) - (long)tilewright_fences[i].size + 1;
        const long distance = before > past ? before : past;
        if (nearest == NULL || distance < least) {
            nearest = &tilewright_fences[i];
            least = distance;
            side = before > past ? -1 : 1;
        }
    }
    if (nearest != NULL) {
        fprintf(stderr, "fence error: %s %d %s at byte %ld %s %s\\n",
                __asan_get_report_access_type() ? "writes" : "reads", (int)__asan_get_report_access_size(),
                __asan_get_report_access_size() == 1 ? "byte" : "bytes", least,
                side < 0 ? "before the start of" : "past the end of", nearest->name);
    }
    fflush(stderr);
}
"""


@dataclass(frozen=True)
class _Region:
    name: str
    offset: int
    size_bytes: int


def fenced(placed: PlacedPlan, kernel: Kernel, platform: Platform, runs: Subject) -> Subject:
    """The subject `runs` with fences; the call of `kernel` gives the regions the names of its C parameters."""
    spread, regions = _spread(placed, _names(placed, kernel))
    artifacts = emit(spread, platform.memory, ())
    files = dict(artifacts.files)
    code = f"src/{placed.plan.name}.c"
    files[code] += _wrapper(spread, regions)
    files["src/unit_fence.c"] = _UNIT
    return Subject(spread, replace(artifacts, files=files), runs.runs)


def _names(placed: PlacedPlan, kernel: Kernel) -> dict[int, str]:
    """Words for slots; a constant's key is -1 minus its number."""
    names = {}
    for instruction in placed.plan.instructions:
        if instruction.kernel.name != kernel.name or instruction.kernel.platform != kernel.platform:
            continue
        words = [parameter.name for parameter in parameters(placed.plan, instruction)]
        for slot in (s for s in instruction.inputs if s >= 0):
            names[slot] = f"operand '{words.pop(0)}'"
        for slot in instruction.outputs:
            names[slot] = f"result '{words.pop(0)}'"
        for index in instruction.frozen:
            names[-1 - index] = f"constant '{words.pop(0)}'"
    return names


def _spread(placed: PlacedPlan, names: Mapping[int, str]) -> tuple[PlacedPlan, list[_Region]]:
    """Every storage and scratch at an offset of its own, gaps around it."""
    plan, at = placed.plan, _GAP
    slots, scratch, regions = dict[int, int](), dict[int, int](), list[_Region]()
    groups = storages(plan, in_place=False)

    def take(name: str, size: int) -> int:
        nonlocal at
        start = at
        regions.append(_Region(f"{name} of {size} bytes", start, size))
        at += -(-(size + _GAP) // _GAP) * _GAP
        return start

    starts: dict[int, int] = {}
    for group in sorted(groups, key=lambda group: group.within is not None):
        if group.within is not None:
            start = starts[group.within[0]] + group.within[1]
            slots.update({member: start + view_shift(plan, member) for member in group.members})
            continue
        word = next((names[s] for s in group.members if s in names), f"tensor '{plan.slots[group.root].tensor.name}'")
        start = starts[group.root] = take(word, group.size_bytes)
        slots.update({member: start + view_shift(plan, member) for member in group.members})
    for instruction in plan.instructions:
        if instruction.scratch_bytes:
            scratch[instruction.index] = take("the declared scratch", instruction.scratch_bytes)
    moved = replace(placed, slot_offsets=slots, scratch_offsets=scratch, arena_bytes=at, align=_GAP, storages=groups)
    for index, frozen in enumerate(plan.frozen_slots):
        size = frozen.constant.size_bytes
        regions.append(_Region(f"{names.get(-1 - index, 'a constant')} of {size} bytes", -1 - index, size))
    return moved, regions


def _wrapper(placed: PlacedPlan, regions: list[_Region]) -> str:
    """C behind the network's own: `run` with the gaps closed, under the name that the test program calls."""
    name = placed.plan.name
    inside = [region for region in regions if region.offset >= 0]
    lines, at = [], 0
    for region in [*inside, _Region("", placed.arena_bytes, 0)]:
        lines.append(f"__asan_poison_memory_region({name}_arena + {at}, {region.offset - at});")
        at = region.offset + region.size_bytes
    table = []
    for region in regions:
        slot = placed.plan.frozen_slots[-1 - region.offset].index if region.offset < 0 else 0
        start = f"{name}_c{slot}" if region.offset < 0 else f"{name}_arena + {region.offset}"
        table.append(f'{{"{region.name}", {start}, {region.size_bytes}}}')
    rows = ",\n        ".join(table) or "{0, 0, 0}"
    body = "\n    ".join(lines)
    return f"""
#ifndef TILEWRIGHT_FENCES
#define TILEWRIGHT_FENCES
typedef struct {{ const char *name; const void *start; size_t size; }} tilewright_fence;
extern const tilewright_fence *tilewright_fences;
extern int tilewright_fence_count;
void __asan_poison_memory_region(void const volatile *address, size_t size);
void __asan_unpoison_memory_region(void const volatile *address, size_t size);
#endif

static int {name}_fenced(void);
static int {name}_fenced(void)
{{
    static const tilewright_fence regions[] = {{
        {rows}
    }};
    tilewright_fences = regions;
    tilewright_fence_count = {len(regions)};
    {body}
    const int state = {name}_run();
    __asan_unpoison_memory_region({name}_arena, {placed.arena_bytes});
    return state;
}}
#define {name}_run {name}_fenced
"""
