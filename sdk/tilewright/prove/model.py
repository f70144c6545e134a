"""From a compiled network to what is proved of it: the image is built, run over unknown codes, differences are run."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tilewright.compile import Compiled
from tilewright.errors import UnsupportedError, UsageError
from tilewright.prove.confirm import confirmed
from tilewright.prove.machine.gave_up import GaveUp
from tilewright.prove.machine.program import EXTRA
from tilewright.prove.network import BLOCKS, NetworkRun
from tilewright.prove.result import LayerProof, NetworkProof
from tilewright.prove.solver import load_solver
from tilewright.run.build import build
from tilewright.run.image import Image
from tilewright.run.pcode import require_lifter, undescribed
from tilewright.run.tool import require_tools
from tilewright.target import Target, with_sizes

ASSUMPTIONS = (
    "the lifter (SLEIGH) says rightly what each instruction does",
    "the image with calls around its layers has the kernels of the one without",
    "what a layer that is not attempted writes are its declared results",
)
"""What a proof rests on beside this code."""


def prove_project(
    compiled: Compiled, target: Target, project: Path, layers: Sequence[str] = (), blocks: int = BLOCKS
) -> NetworkProof:
    """What is proved of a written project's layers on a target, all of them or those of these names.

    `blocks` limits the blocks of machine code that run. UsageError for a name that no layer has, UnsupportedError for
    a machine whose code is not lifted, ToolMissing without pypcode, z3-solver or the target's compiler.
    """
    require_lifter(EXTRA), load_solver()
    require_tools(target)
    if why := undescribed(target):
        raise _refused(compiled.model.name, target.name, why)
    interface = compiled.artifacts.interface
    if interface.takes_pointers or interface.context or interface.blobs or compiled.plan.state:
        raise UnsupportedError(
            "layers are proved of networks that hold their own inputs and weights, and keep no state",
            why="this one is called in another way", fix="compile it without --io caller, --context and states",
        )  # fmt: skip
    names = {instruction.name for instruction in compiled.plan.instructions}
    unknown = [name for name in layers if name not in names]
    if unknown:
        raise UsageError(
            f"--layers {unknown[0]}", why="no layer has this name", fix=f"name one of: {', '.join(sorted(names))}"
        )
    sized = with_sizes(target, compiled.request.levels)
    with tempfile.TemporaryDirectory(prefix="tilewright-build-") as folder:
        image = build(project, interface, sized, Path(folder), trace=True)
        return _proved(compiled, image, frozenset(layers), blocks)


def _proved(compiled: Compiled, image: Image, wanted: frozenset[str], blocks: int) -> NetworkProof:
    try:
        run = NetworkRun(compiled.placed, image, wanted, blocks)
    except GaveUp as error:
        raise _refused(image.model, image.target.name, str(error)) from error
    proofs = [_confirmed(proof, run, compiled, image) for proof in run.run()]
    version = f"{image.toolchain.version}, {image.toolchain.flags}"
    spent = blocks - max(run.budget.left, 0)
    compared = run.comparison
    return NetworkProof(
        image.model,
        image.target.name,
        version,
        tuple(proofs),
        spent,
        compared.values_tried,
        compared.asked,
        ASSUMPTIONS,
    )


def _refused(model: str, target: str, why: str) -> UnsupportedError:
    return UnsupportedError(
        f"no layer of '{model}' can be proved on '{target}'", why=why,
        fix="name a target of Cortex-M3, M4 or rv32imc; the portable kernels are proved there too",
    )  # fmt: skip


def _confirmed(proof: LayerProof, run: NetworkRun, compiled: Compiled, image: Image) -> LayerProof:
    """A refuted layer whose operands are the network's inputs, run on the target with them."""
    example = proof.counterexample
    if example is None:
        return proof
    by = confirmed(example, proof.name, compiled, image)
    return replace(proof, counterexample=replace(example, confirmed_by=by))
