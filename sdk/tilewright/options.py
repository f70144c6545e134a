"""Everything that a user may ask of a compilation or a run, as two frozen values; the command line fills them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, get_args

from tilewright.errors import UsageError
from tilewright.model import Numerics, Shape
from tilewright.sizes import parse_size
from tilewright.text.sampler import Sampling

InputOutput = Literal["arena", "caller", "stream"]
Optimize = Literal["speed", "size", "balanced"]
FallBack = Literal["never", "needed", "always"]
Weights = Literal["auto", "c", "bin"]
Real = Literal["float", "fixed"]


@dataclass(frozen=True)
class StateWish:
    """Which inputs and outputs the user says are one tensor between calls.

    `pairs` are (input, output); None leaves it to the file. `auto` finds more by the names of usual exporters.
    `initial` is an .npz file of first values by the input's name.
    """

    pairs: tuple[tuple[str, str], ...] | None = None
    auto: bool = False
    initial: Path | None = None


@dataclass(frozen=True)
class StreamWish:
    """The axis along which a sequence is given some frames a call, of the input `tensor` or, empty, of all inputs.

    `frames` a call; None takes as few as there can be.
    """

    axis: int
    tensor: str = ""
    frames: int | None = None

    def __post_init__(self) -> None:
        """Refuse calls without frames."""
        if self.frames is not None and self.frames < 1:
            raise UsageError(f"--stream-frames {self.frames}", why="a call has at least one frame", fix="use 1 or more")


TILING_PASSES = frozenset({"tile_fusion", "pinning", "double_buffering", "sittings"})
"""Switches of `--without-pass` that act on tiles: layers tile by tile in one chain, constants that stay in L1, copies
beside computing."""

MEMORY_PASSES = (
    frozenset({"reorder", "kernels", "in_place", "overlap", "views", "recompute", "row_chains", "state"})
    | TILING_PASSES
)
"""Switches of `--without-pass` that act on memory: node order, kernels with less scratch at the peak, results in an
operand's place, and over a part of it, parts of a Concat that lie in its result and those of a Split that stay in its
operand, results computed twice, nodes computed band by band of rows, states written where they lie."""


@dataclass(frozen=True)
class CompileOptions:
    """What may be asked of `compile`. All sizes are bytes; UsageError where a value makes no sense.

    `level_sizes` and `budgets` map memory levels to bytes: the first replaces the target's size, the second only
    limits what the network may use. `shapes` and `freeze` map model inputs to a static shape and to a .npy file with
    the value. `disabled_passes` are names of passes. `solver_seconds` limits each question to a solver.
    `measure` builds the code to replace the estimated code and stack bytes. `dump_dir` receives every stage's value.
    `program` names the file of the network's regions, see docs/regions.md. `context` gives every function an instance
    of the network, so that several may exist. `lock` is a file of
    `tilewright tune`, whose counts choose the kernels; `decisions` a file that is followed in the place of the search.
    `engine` names the unit of the chip that layers go to wherever it has a kernel; `auto` takes the fastest for each.
    `fall_back` says when a slower kernel may take a layer of which no tile fits the compute level: `needed` is where
    the target has not enough of it. `weights` are arrays of C or a binary file that an assembler file takes in; `auto`
    takes the file from 256 KiB on. `state` says what lives from call to call. `stream` asks for the streaming form of a
    network over a whole sequence. `tokenizer` is a file of tokens: the project gets text in and out.
    `bounds` are the most elements that are kept where data decides how many there are,
    by the name of a node, a tensor or a dimension. `numerics` says how real numbers become codes, `real` whether those
    between are floats or in fixed point.
    With `slice_instructions` a function runs the network about so many instructions at a time, estimated; 0: none does.
    """

    level_sizes: Mapping[str, int] = field(default_factory=dict)
    budgets: Mapping[str, int] = field(default_factory=dict)
    shapes: Mapping[str, Shape] = field(default_factory=dict)
    freeze: Mapping[str, Path] = field(default_factory=dict)
    io: InputOutput = "arena"
    quantized_io: bool = False
    integer_only: bool = False
    real: Real = "float"
    allocator: str = "auto"
    optimize: Optimize = "balanced"
    disabled_passes: frozenset[str] = frozenset()
    solver_seconds: float = 5.0
    measure: bool = False
    dump_dir: Path | None = None
    program: Path | None = None
    context: bool = False
    lock: Path | None = None
    decisions: Path | None = None
    fall_back: FallBack = "needed"
    engine: str = "auto"
    weights: Weights = "auto"
    numerics: Numerics = "exact"
    state: StateWish = StateWish()
    stream: StreamWish | None = None
    tokenizer: Path | None = None
    bounds: Mapping[str, int] = field(default_factory=dict)
    slice_instructions: int = 0

    def __post_init__(self) -> None:
        """Refuse values that no stage could give a meaning to."""
        _one_of("io", self.io, get_args(InputOutput))
        _one_of("optimize", self.optimize, get_args(Optimize))
        _one_of("fall_back", self.fall_back, get_args(FallBack))
        _one_of("numerics", self.numerics, get_args(Numerics))
        _one_of("real", self.real, get_args(Real))
        _one_of("weights", self.weights, get_args(Weights))
        if self.tokenizer is not None and (self.context or self.io != "arena"):
            raise UsageError(
                "--tokenizer", why="text needs one network with inputs and outputs of its own",
                fix="leave out " + ("--context" if self.context else f"--io {self.io}"),
            )  # fmt: skip
        if self.decisions is not None and self.lock is not None:
            raise UsageError("--decisions and --lock", why="decisions say the kernels that counts would choose",
                             fix="leave one of them out")  # fmt: skip
        for option, sizes in (("set", self.level_sizes), ("budget", self.budgets)):
            for level, size in sizes.items():
                if size < 0:
                    raise UsageError(f"--{option} {level}={size}", why="a size is negative", fix="use bytes >= 0")
        for level, budget in self.budgets.items():
            if budget > self.level_sizes.get(level, budget):
                raise UsageError(
                    f"--budget {level}={budget} contradicts --set {level}={self.level_sizes[level]}",
                    why="a budget cannot be larger than the level", fix="leave one of them out",
                )  # fmt: skip
        for name, shape in self.shapes.items():
            if any(extent < 0 for extent in shape):
                text = ",".join(map(str, shape))
                raise UsageError(
                    f"--shape {name}={text}", why="an extent is below 0", fix="use a number of elements, 0 for none"
                )
        for name, most in self.bounds.items():
            if most < 1:
                raise UsageError(f"--bound {name}={most}", why="nothing would be kept", fix="use 1 or more")
        if not 0 < self.solver_seconds < float("inf"):
            raise UsageError(f"solver_seconds is {self.solver_seconds}", why="a solver needs time to answer")


@dataclass(frozen=True)
class Against:
    """Another network's outputs over the same samples: an .npz `file`, whose they are (`name`), `where` they were
    computed, and what a sample cost there."""

    file: Path
    name: str
    where: str = "from a file"
    instructions: int | None = None
    cycles: int | None = None


@dataclass(frozen=True)
class TextWish:
    """A text that a language model is to write: `count` tokens behind a prompt. `tell` gets its parts as they come."""

    tokenizer: Path
    prompt: str
    count: int
    sampling: Sampling = field(default_factory=Sampling)
    tell: Callable[[str], None] | None = None

    def __post_init__(self) -> None:
        """Refuse a text of nothing."""
        if self.count < 1:
            raise UsageError(f"--generate {self.count}", why="nothing is to be written", fix="use 1 or more")


@dataclass(frozen=True)
class ReadingWish:
    """A text that a language model is to foresee, and the file in floats that it came of or is."""

    tokenizer: Path
    text: Path
    floats: Path


@dataclass(frozen=True)
class RunOptions:
    """What may be asked of `run` beside the compilation.

    `inputs` and `expect` are .npz files whose keys are the model's inputs and outputs; without `inputs` values are
    drawn from `seed`. `layers` compares every tensor, `profile` counts per layer. `atol` and `rtol` hold for floats.
    `frames` are calls one after the other: so many that are drawn, or an .npz file whose leading axis counts them.
    `reference` off leaves out the comparison of NumPy with ONNX Runtime.
    Inputs with a first axis of samples are a data set: `labels` is a file of class numbers, `against` what another
    network gave, and `predictions` the .csv or .npz file that what this one gives is written to.
    `text` has a language model write, whose calls are compared as those of `frames` are; `reading` has it foresee one.
    `sequence` is an .npz file of whole sequences, which a streaming network is given some frames a call.
    """

    inputs: Path | None = None
    expect: Path | None = None
    layers: bool = False
    profile: bool = False
    atol: float = 1e-4
    rtol: float = 1e-4
    seed: int = 0
    reference: bool = True
    frames: Path | int | None = None
    labels: Path | None = None
    against: Against | None = None
    predictions: Path | None = None
    text: TextWish | None = None
    reading: ReadingWish | None = None
    sequence: Path | None = None

    def __post_init__(self) -> None:
        """Refuse tolerances that nothing could meet, and sequences of which only one call is spoken of."""
        given = [self.frames, self.inputs, self.expect, self.labels, self.layers or None, self.profile or None]
        if self.text is not None and any(one is not None for one in given):
            raise UsageError(
                "--generate", why="the text gives the inputs of every call, and one call is not looked into",
                fix="leave out --frames, --inputs, --expect, --labels, --layers and --profile",
            )  # fmt: skip
        if self.frames is not None and (self.inputs or self.expect or self.layers or self.profile):
            raise UsageError(
                "--frames", why="--inputs, --expect, --layers and --profile apply to one call",
                fix="leave them out, or leave --frames out",
            )  # fmt: skip
        for option in ("labels", "against", "predictions"):
            if getattr(self, option) is not None and self.inputs is None:
                raise UsageError(
                    f"--{option}", why="it applies to samples, and there are none", fix="pass samples with --inputs"
                )
        if isinstance(self.frames, int) and self.frames < 1:
            raise UsageError(f"--frames {self.frames}", why="a sequence has at least one call", fix="use 1 or more")
        for name, value in (("atol", self.atol), ("rtol", self.rtol)):
            if not value >= 0:
                raise UsageError(
                    f"--{name} {value}", why="a tolerance is negative or not a number", fix="use 0 or more"
                )


def size_bytes(text: str) -> int:
    """Bytes of a size as users write it: `4096`, `64K`, `64KiB`, `1M`, `1 MB`; K is 1024. UsageError otherwise."""
    size = parse_size(text)
    if size is None:
        raise UsageError(
            f"'{text}' is not a size", why="it is not a whole number with B, K, M or G", fix="write 4096, 64K or 1M"
        )
    return size


def _one_of(option: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise UsageError(f"--{option} {value}", why="there is no such choice", fix="choose " + " or ".join(allowed))
