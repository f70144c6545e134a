"""Small networks of any platform run on this machine: one program for all, with a cluster or CUDA's stand-in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from cuda.test_kernel_conformance import one_file
from tilewright.codegen.emit import emit
from tilewright.conformance.program import STRICT, run_batch
from tilewright.conformance.subject import Subject, subject
from tilewright.kernel import Kernel
from tilewright.memory.buffer_layout import layout_of
from tilewright.memory.placed import PlacedPlan
from tilewright.model import Array
from tilewright.platforms.cuda.emit import STAND_IN, TEMPLATES, emit_network
from tilewright.plugins import kernels_of, platform
from tilewright.run.cuda_executor import CUDAGraphExecutor
from tilewright.run.cuda_library import build_library
from tilewright.target import load_target

PLATFORMS = ("generic", "cortex_m", "riscv", "pulp", "pulp_l3", "cuda")
POSIX = "-D_POSIX_C_SOURCE=200809L"
"""What `pthread_barrier_t` stands behind."""
Runs = Sequence[Sequence[Array]]
Results = list[list[tuple[Array, ...]]]

CLUSTER = """#include <pthread.h>
#include <string.h>
#include "tilewright_cluster.h"

tilewright_future tilewright_start(const tilewright_copy *copies, int first, int end, unsigned char *fast,
                                   unsigned char *const *home)
{
    for (const tilewright_copy *copy = copies + first; copy < copies + end; copy++) {
        for (uint32_t run = 0; run < copy->runs; run++) {
            unsigned char *near = fast + copy->near + run * copy->bytes;
            unsigned char *far = home[copy->operand] + copy->far + run * copy->stride;
            memcpy(copy->store ? far : near, copy->store ? near : far, copy->bytes);
        }
    }
    return first < end;
}

void tilewright_wait(tilewright_future future)
{
    (void)future;
}

static struct {
    void (*function)(const void *work, int core, int cores);
    const void *work;
    pthread_t threads[8];
    pthread_barrier_t here;
} cluster;

static void *be_core(void *number)
{
    cluster.function(cluster.work, (int)(intptr_t)number, 8);
    return NULL;
}

void tilewright_begin(void (*function)(const void *work, int core, int cores), const void *work)
{
    cluster.function = function;
    cluster.work = work;
    (void)pthread_barrier_init(&cluster.here, NULL, 9);
    for (intptr_t core = 0; core < 8; core++) {
        (void)pthread_create(&cluster.threads[core], NULL, be_core, (void *)core);
    }
}

void tilewright_barrier(void)
{
    (void)pthread_barrier_wait(&cluster.here);
}

void tilewright_end(void)
{
    for (int core = 0; core < 8; core++) {
        (void)pthread_join(cluster.threads[core], NULL);
    }
    (void)pthread_barrier_destroy(&cluster.here);
}
"""
"""A cluster for the host: copies are done at once, the cores are threads."""


def kernels_here(name: str) -> list[Kernel]:
    """Those of a platform whose C this machine can run: vectors of RISC-V are written as instructions."""
    return [kernel for kernel in kernels_of(platform(name)) if "rvv" not in kernel.requires.has]


def text_of(placed: PlacedPlan) -> str:
    """All that is generated for a network."""
    if placed.plan.platform == "cuda":
        return emit_network(placed.plan, layout_of(placed))
    return "".join(emit(placed, platform(placed.plan.platform).memory, ()).files.values())


def run_on_host(placed: Sequence[PlacedPlan], runs: Sequence[Runs], folder: Path) -> Results:
    """The outputs of every run of every network; all networks are of one platform and have names of their own."""
    name = placed[0].plan.platform
    if name == "cuda":
        return _on_stand_in(placed, runs, folder)
    made = [subject(one, platform(name), given) for one, given in zip(placed, runs, strict=True)]
    found = []
    for one, outcome in zip(made, run_batch(_with_cluster(made), folder, flags=("-O0", POSIX, *STRICT)), strict=True):
        assert not outcome.failure, f"{one.name}: {outcome.failure}"
        found.append(list(outcome.runs))
    return found


def _with_cluster(made: list[Subject]) -> list[Subject]:
    """The subjects, of which the first that needs a cluster brings it."""
    for index, one in enumerate(made):
        code = f"src/{one.name}.c"
        if "tilewright_begin" in one.artifacts.files[code]:
            files = {**one.artifacts.files, code: one.artifacts.files[code] + CLUSTER}
            first = replace(one, artifacts=replace(one.artifacts, files=files))
            return [*made[:index], first, *made[index + 1 :]]
    return made


def _on_stand_in(placed: Sequence[PlacedPlan], runs: Sequence[Runs], folder: Path) -> Results:
    (folder / "network.cu").write_text(one_file({one.plan.name: text_of(one) for one in placed}))
    (folder / STAND_IN).write_text((TEMPLATES / STAND_IN).read_text())
    target = load_target("cuda_host")
    quick = tuple("-O0" if flag == "-O2" else flag for flag in target.compile_flags)
    library = build_library(folder, replace(target, compile_flags=quick), folder)
    found: Results = []
    for one, given in zip(placed, runs, strict=True):
        with CUDAGraphExecutor(one.plan, layout=layout_of(one), library=library) as executor:
            found.append([tuple(executor.run(*arrays)) for arrays in given])
    return found
