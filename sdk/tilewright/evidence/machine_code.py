"""What is known of the linked machine code for all inputs: instructions of a run, and layers that are proved."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tilewright.compile import Compiled
from tilewright.errors import TilewrightError, ToolMissing, UnsupportedError
from tilewright.evidence.line_table import same_program
from tilewright.prove.machine.program import EXTRA as PROVER
from tilewright.prove.model import prove_project
from tilewright.prove.result import NetworkProof
from tilewright.run.image import Image
from tilewright.run.pcode import require_lifter
from tilewright.target import Target
from tilewright.timing.bound import Analysis, Place
from tilewright.timing.lift import EXTRA as BOUNDER
from tilewright.timing.machine import Cost
from tilewright.timing.network import LayerBound, SliceBound, bound_layers, bound_slices
from tilewright.timing.unreached import Unreached

BLOCKS = 4_000_000
"""Blocks of machine code that the proofs of one folder may take; 'tilewright prove --blocks' has no such limit."""
TIME_ASSUMPTIONS = (
    "the lifter (SLEIGH) says rightly what each instruction does",
    "functions keep the calling convention, and computed jumps stay inside of code",
    "nothing interrupts the run, and the caller is not counted",
    "modelled cycles are the core's published table with the target's wait states of flash: no bound on silicon",
)


@dataclass(frozen=True)
class TimeEvidence:
    """Instructions of one run at least and at most over all inputs, of the image that ships.

    `core` is the table of modelled cycles, empty where there is none. `places` are the branches that data decide,
    `unreached` the network's machine code that no input reaches.
    """

    cost: Cost | None
    core: str
    flash_wait_states: int
    layers: tuple[LayerBound, ...]
    slices: tuple[SliceBound, ...]
    places: tuple[Place, ...]
    unreached: tuple[Unreached, ...]
    assumptions: tuple[str, ...]
    missing: str = ""

    @property
    def dead(self) -> tuple[int, ...]:
        """Lines of C of whose machine code no input reaches anything."""
        return tuple(sorted({one.line.number for one in self.unreached if one.dead}))


@dataclass(frozen=True)
class ProofEvidence:
    """What the machine code of each layer is proved to compute, for all inputs."""

    proof: NetworkProof | None
    missing: str = ""


def time_evidence(
    compiled: Compiled, target: Target, project: Path, images: tuple[Image | None, Image | None], work: Path
) -> TimeEvidence:
    """The bound of the image with debug information, which has to load the bytes of the one that ships."""
    plain, debug = images
    if plain is None or debug is None:
        return _no_time("nothing was built")
    if not same_program(plain.path, debug.path):
        return _no_time("debug information changes the program: the bound would be that of another one")
    try:
        require_lifter(BOUNDER)
        analysis = Analysis(debug)
        bound = analysis.bound()
        layers = bound_layers(compiled, target, project, work)
        slices = bound_slices(compiled, analysis)
    except (ToolMissing, UnsupportedError) as error:
        return _no_time(_sentence(error))
    core = analysis.core.core if analysis.core is not None and bound.modelled else ""
    return TimeEvidence(
        bound.cost, core, target.flash_wait_states, layers, slices, bound.places, bound.unreached, TIME_ASSUMPTIONS
    )


def proof_evidence(compiled: Compiled, target: Target, project: Path) -> ProofEvidence:
    """The proofs of a written project's layers, within `BLOCKS`."""
    if not any(slot.tensor.quantisation is not None for slot in compiled.plan.slots):
        return ProofEvidence(None, "no layer computes on codes: floats have a bound under replication")
    try:
        require_lifter(PROVER)
        return ProofEvidence(prove_project(compiled, target, project, blocks=BLOCKS))
    except (ToolMissing, UnsupportedError) as error:
        return ProofEvidence(None, _sentence(error))


def _no_time(why: str) -> TimeEvidence:
    return TimeEvidence(None, "", 0, (), (), (), (), (), why)


def _sentence(error: TilewrightError) -> str:
    return ": ".join(filter(None, (error.what, error.why)))
