"""The test image of several networks: all behind the names of one, each given its inputs and asked for its outputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tilewright.codegen.interface import Interface
from tilewright.run.glue import caller_memory, index_code

_MOVE = """
static void tw_move(void *to, const void *from, uint32_t size_bytes)
{
    uint32_t at;
    for (at = 0; at < size_bytes; at++) {
        ((volatile uint8_t *)to)[at] = ((const uint8_t *)from)[at];
    }
}
"""


def common_interface(kit: str, parts: Sequence[Interface]) -> Interface:
    """The inputs and outputs of all networks, one after the other."""
    return replace(
        parts[0], model=kit, takes_pointers=True,
        inputs=tuple(size for one in parts for size in one.inputs),
        outputs=tuple(size for one in parts for size in one.outputs),
        foreign_ram_bytes=0, foreign_constant_bytes=0, cores_read=any(one.cores_read for one in parts),
    )  # fmt: skip


def together_code(whole: Interface, batches: Sequence[Sequence[Interface]]) -> str:
    """C of which a call runs every network once. Those of a batch have their inputs before the first of them runs,
    and give their outputs after the last."""
    lines = [f"/* All networks of {whole.model}. */", f'#include "{whole.model}.h"', "#include <stdint.h>"]
    lines += ['#include "harness.h"', _MOVE]
    for kind, sizes in (("input", whole.inputs), ("output", whole.outputs)):
        lines += [
            f"static union {{ uint8_t bytes[{max(size, 1)}]; uint64_t aligned; }} {caller_memory(f'{kind}_{at}')};"
            for at, size in enumerate(sizes)
        ]
    lines += ["static int tw_all(void)", "{", "    int status;"]
    first = [0, 0]
    for batch in batches:
        lines += _batch(batch, first)
    lines += ["    return 0;", "}", "int (*const tw_run)(void) = tw_all;"]
    reset = f"{whole.model}_reset()" if whole.state_bytes else "0"
    lines.append(f"int tw_init(void) {{ return {reset}; }}")
    return "\n".join(lines + index_code(whole)) + "\n"


def _batch(batch: Sequence[Interface], first: list[int]) -> list[str]:
    """One batch; `first` are the numbers of its first input and output among all, and go on behind it."""
    given, ran, taken = list[str](), list[str](), list[str]()
    for one in batch:
        inputs = [f"&{caller_memory(f'input_{first[0] + at}')}" for at in range(len(one.inputs))]
        outputs = [f"&{caller_memory(f'output_{first[1] + at}')}" for at in range(len(one.outputs))]
        first[0] += len(inputs)
        first[1] += len(outputs)
        arguments = ", ".join(f"(void *){place}" for place in (*inputs, *outputs)) if one.takes_pointers else ""
        ran += [
            f"    status = {one.model}_run({arguments});",
            "    if (status != 0) {",
            "        return status;",
            "    }",
        ]
        if not one.takes_pointers:
            moves = zip(inputs, one.inputs, strict=True)
            given += [f"    tw_move({one.model}_input_{n}(), {at}, {size}u);" for n, (at, size) in enumerate(moves)]
            moves = zip(outputs, one.outputs, strict=True)
            taken += [f"    tw_move({at}, {one.model}_output_{n}(), {size}u);" for n, (at, size) in enumerate(moves)]
    return given + ran + taken
