"""The options that several verbs share, and what they mean as values."""

from __future__ import annotations

import argparse
import logging
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from tilewright.errors import DoesNotFit, UsageError

if TYPE_CHECKING:
    from tilewright.compile import Compiled
    from tilewright.options import CompileOptions, Real, StateWish, StreamWish, Weights
    from tilewright.report.build import Report
    from tilewright.target import Target

T = TypeVar("T")
ALLOCATORS = "auto, canonical, cp_sat, descent, distances, greedy, naive, onnx2c_unions, tetris, tflm_greedy"
PASSES = (
    "activation, batch_norm, cached_attention, canonical, chain, constant_channels, dead, dense, depthwise, fold, "
    "gates, hot_rows, identity, normalisation, one_hot, pad, phases, pool, prescale, readers, rotary, scalar, "
    "signed_codes, transposed, windows; in memory in_place, kernels, overlap, recompute, reorder, row_chains, state, "
    "views; in tiles double_buffering, pinning, sittings, tile_fusion"
)
"""What options take, said here so that help imports nothing; a test holds them against what is there."""
CACHE_BITS = {"float": 0, "float16": 16, "int8": 8, "int4": 4}
"""Bits of an element of caches, by what `--cache` says; 0 for floats as they are."""
_LOG = logging.getLogger("tilewright")


def add_output(parser: argparse.ArgumentParser) -> None:
    """`--json`, `-v` and `-q`, which every verb has."""
    group = parser.add_argument_group("output")
    group.add_argument("--json", metavar="FILE", help="write the answer as JSON; - is standard output")
    group.add_argument("-v", "--verbose", action="store_true", help="log more, and show tracebacks")
    group.add_argument("-q", "--quiet", action="store_true", help="log errors only")


def add_force(parser: argparse.ArgumentParser) -> None:
    """`--force`, for verbs that write a folder in which a user may have files."""
    parser.add_argument(
        "--force", action="store_true", help="replace files that tilewright did not write, or that were changed since"
    )


def path(text: str) -> Path:
    """A path that the user names; UsageError for an empty one, which comes of a variable that is not set."""
    if not text:
        raise UsageError("a path is empty", why="a variable may be unset", fix="name a file or a folder")
    return Path(text)


_WRITTEN = ("output", "html", "json", "onnx", "write_codes", "write_decisions", "predictions")
"""The options that name a file which a verb writes."""


def overwritten(arguments: argparse.Namespace) -> UsageError | None:
    """The error for a file that is to be written and is one that is read: a network, samples, a report."""
    given = vars(arguments)
    read = [
        file
        for name, value in given.items() if name not in _WRITTEN
        for file in (value if isinstance(value, list) else [value]) if isinstance(file, Path) and file.is_file()
    ]  # fmt: skip
    for name in _WRITTEN:
        place = given.get(name)
        if place not in (None, "-") and any(Path(place).is_file() and file.samefile(place) for file in read):
            return UsageError(
                f"'{place}' would be overwritten", why="it is one of the files that are read",
                fix="write to another file", file=str(place),
            )  # fmt: skip
    return None


def whole(text: str) -> int:
    """A whole number of 0 or more, as options take it."""
    if not (text.isascii() and text.isdigit()) or len(text) > 18:
        raise argparse.ArgumentTypeError(f"'{text}' is not a whole number of 0 or more")
    return int(text)


def tolerance(text: str) -> float:
    """A bound of 0 or more, which may be infinite."""
    return _real(text, "is no number of 0 or more", lambda value: value >= 0)


def seconds(text: str) -> float:
    """A time of more than 0 seconds and less than for ever."""
    return _real(text, "is no time in seconds", lambda value: 0 < value < 1e9)


def _real(text: str, why: str, right: Callable[[float], bool]) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not right(value):
        raise argparse.ArgumentTypeError(f"'{text}' {why}")
    return value


def add_compilation(parser: argparse.ArgumentParser, *, several: bool = False) -> None:
    """MODEL, or `several`, and the options that become `CompileOptions`."""
    if several:
        parser.add_argument("models", metavar="MODEL", type=path, nargs="+", help="networks, ONNX files")
    else:
        parser.add_argument("model", metavar="MODEL", type=path, help="the network, an ONNX file")
    group = parser.add_argument_group("compilation")
    pairs = [
        ("--set", "level_sizes", "LEVEL=SIZE", "size of a memory level instead of the target's, e.g. l1=64K"),
        ("--budget", "budgets", "LEVEL=SIZE", "what the network may use of a level; exit 4 when exceeded"),
        ("--shape", "shapes", "INPUT=1,3,96,96", "static shape of an input"),
        ("--freeze", "freeze", "INPUT=FILE.npy", "take an input as a constant"),
        ("--bound", "bounds", "NAME=N", "the most elements, or turns of a loop, where data decides how many there are"),
    ]
    for option, name, metavar, text in pairs:
        group.add_argument(option, dest=name, metavar=metavar, action="append", default=[], help=text)
    group.add_argument(
        "--state", metavar="IN=OUT,...", action="append", default=[],
        help="inputs and outputs that are one tensor between calls; auto: by the names of usual exporters; none",
    )  # fmt: skip
    group.add_argument("--state-init", metavar="FILE.npz", type=path, help="first values of states by name")
    group.add_argument(
        "--stream", metavar="AXIS|INPUT=AXIS",
        help="the streaming form of a network over a sequence: some frames a call, along the axis of time",
    )  # fmt: skip
    group.add_argument("--stream-frames", metavar="N", type=whole, help="frames a call; default: as few as can be")
    group.add_argument(
        "--io", choices=("arena", "caller", "stream"), default="arena", help="where inputs and outputs live"
    )
    group.add_argument("--context", action="store_true", help="several instances of the network may exist")
    group.add_argument(
        "--slice", metavar="N", type=whole, default=0,
        help="a function that runs about N instructions of the network at a time, beside a control loop",
    )  # fmt: skip
    group.add_argument("--quantized-io", action="store_true", help="keep integers at the border of the network")
    group.add_argument("--numerics", choices=("exact", "tflm"), default="exact", help="how results become codes")
    _add_real(group)
    group.add_argument("--allocator", metavar="NAME", default="auto", help=f"how buffers are placed: {ALLOCATORS}")
    group.add_argument("--optimize", choices=("speed", "size", "balanced"), default="balanced", help="what to favour")
    group.add_argument(
        "--fall-back", choices=("never", "needed", "always"), default="needed",
        help="a slower kernel for layers of which no tile fits: where the target has not enough memory, or always",
    )  # fmt: skip
    group.add_argument(
        "--engine", metavar="NAME", default="auto",
        help="a unit of the chip that takes all layers it can, the first one nothing but its own; auto: the fastest",
    )  # fmt: skip
    _add_codes(group)
    group.add_argument(
        "--tokenizer", metavar="FILE", type=path, help="tokens of a language model: the project gets text in and out"
    )
    group.add_argument(
        "--without-pass", metavar="NAME", action="append", default=[], help=f"leave a pass out: {PASSES}"
    )
    group.add_argument("--solver-seconds", metavar="S", type=seconds, default=5.0, help="limit of each solver question")
    group.add_argument("--program", metavar="FILE", type=path, help="regions of the network and how each is shipped")
    group.add_argument("--lock", metavar="FILE", type=path, help="choose kernels by the counts of 'tilewright tune'")
    group.add_argument("--decisions", metavar="FILE", type=path, help="follow this file instead of searching")
    group.add_argument("--dump-dir", metavar="DIR", type=path, help="write every stage's value there")


def _add_real(group: argparse._ArgumentGroup) -> None:
    """Whether there may be floats, and what real numbers are."""
    group.add_argument("--integer-only", action="store_true", help="refuse a network that computes in floats")
    group.add_argument(
        "--real", choices=("float", "fixed"),
        help="real numbers as floats or in fixed point, within bounds; fixed where codes are made for --integer-only",
    )  # fmt: skip


def _add_codes(group: argparse._ArgumentGroup) -> None:
    """What of a float network is to be codes, and how weights are stored."""
    group.add_argument(
        "--weights", metavar="WORD,...", default="auto",
        help="c: arrays of C; bin: a binary file with an assembler file; auto takes the file from 256 KiB on; "
        "int8, int4:32: codes of a float network's weights, of four bits in blocks of 32",
    )  # fmt: skip
    group.add_argument(
        "--activations", choices=("int8", "float"), default="int8",
        help="rows coded as they come, so that products with --weights int8 or int4 are of integers; or floats",
    )  # fmt: skip
    group.add_argument(
        "--cache", choices=tuple(CACHE_BITS), default="float",
        help="caches of keys and values that a TensorScatter writes: as they are, halves, or codes with a scale a row",
    )  # fmt: skip
    group.add_argument(
        "--write-codes", metavar="FILE.onnx", type=path, help="write the network that --weights and --cache make"
    )


def compile_options(arguments: argparse.Namespace, *, measure: bool = False) -> CompileOptions:
    """The options of a command line; UsageError names the option that cannot be read."""
    from tilewright.options import CompileOptions, size_bytes

    options = CompileOptions(
        level_sizes=_pairs("--set", arguments.level_sizes, size_bytes),
        budgets=_pairs("--budget", arguments.budgets, size_bytes),
        shapes=_pairs("--shape", arguments.shapes, _shape),
        freeze=_pairs("--freeze", arguments.freeze, Path),
        bounds=_pairs("--bound", arguments.bounds, _most),
        io=arguments.io,
        quantized_io=arguments.quantized_io,
        integer_only=arguments.integer_only,
        real=_numbers_as(arguments),
        numerics=arguments.numerics,
        allocator=arguments.allocator,
        optimize=arguments.optimize,
        disabled_passes=frozenset(arguments.without_pass),
        solver_seconds=arguments.solver_seconds,
        measure=measure,
        dump_dir=arguments.dump_dir,
        program=arguments.program,
        context=arguments.context,
        slice_instructions=arguments.slice,
        lock=arguments.lock,
        decisions=arguments.decisions,
        fall_back=arguments.fall_back,
        engine=arguments.engine,
        weights=storage_of(arguments.weights),
        state=_state(arguments.state, arguments.state_init),
        stream=_stream(arguments.stream, arguments.stream_frames),
        tokenizer=arguments.tokenizer,
    )
    models: Sequence[Path] = arguments.models if "models" in arguments else [arguments.model]
    named = (options.program, options.lock, options.decisions, options.state.initial, options.tokenizer)
    for file in (*models, *options.freeze.values(), *named):
        existing(file)
    return options


def _numbers_as(arguments: argparse.Namespace) -> Real:
    """What `--real` says; without it a network that was given codes to be integers is in fixed point."""
    if arguments.real is not None:
        return "fixed" if arguments.real == "fixed" else "float"
    return "fixed" if arguments.integer_only and getattr(arguments, "floats", None) else "float"


def storage_of(text: str) -> Weights:
    """Which of its words says how weights are stored; `auto` where none does. UsageError for words that are unknown."""
    from tilewright.quantiser.codes import Scheme

    storages: tuple[Weights, ...] = ("auto", "c", "bin")
    words = text.split(",")
    named = [storage for word in words for storage in storages if storage == word]
    if len(named) > 1 or len(words) > len(named) + 1 or any(
        word not in storages and Scheme.parse(word) is None for word in words
    ):  # fmt: skip
        raise UsageError(
            f"--weights {text}", why="it takes one of auto, c, bin and one of int8, int4:BLOCK",
            fix="write for example int4:32,bin",
        )  # fmt: skip
    return named[0] if named else "auto"


def _state(texts: Sequence[str], initial: Path | None) -> StateWish:
    """What `--state` options say; UsageError for one that cannot be read."""
    from tilewright.frontend.states import AUTO, NONE, parse_pairs
    from tilewright.options import StateWish

    pairs: tuple[tuple[str, str], ...] = ()
    for text in texts:
        if text not in (AUTO, NONE):
            try:
                pairs += parse_pairs(text)
            except ValueError as error:
                raise UsageError(
                    f"--state {text}", why=str(error), fix="write input=output,..., auto or none"
                ) from None
    if NONE in texts and (len(texts) > 1 or initial is not None):
        raise UsageError("--state none", why="another option says that there is state", fix="leave one of them out")
    said = bool(pairs) or NONE in texts
    return StateWish(pairs if said else None, AUTO in texts, initial)


def _stream(text: str | None, frames: int | None) -> StreamWish | None:
    """What `--stream` says; UsageError where it cannot be read."""
    from tilewright.options import StreamWish

    if text is None:
        if frames is not None:
            raise UsageError("--stream-frames", why="nothing is streamed", fix="also pass --stream AXIS")
        return None
    tensor, _, axis = text.rpartition("=")
    if not (digits := axis.removeprefix("-")).isascii() or not digits.isdigit() or len(digits) > 3:
        raise UsageError(f"--stream {text}", why=f"'{axis}' is no axis", fix="write AXIS or INPUT=AXIS, e.g. 2")
    return StreamWish(int(axis), tensor, frames)


def shape_pairs(texts: Sequence[str]) -> dict[str, tuple[int, ...]]:
    """What `--shape` options say; UsageError for one that cannot be read."""
    return _pairs("--shape", texts, _shape)


def existing(file: Path | None) -> None:
    """Refuse a file that the user names and that is not there."""
    try:
        why = "" if file is None or file.is_file() else _no_file(file)
    except OSError as error:
        why = error.strerror or type(error).__name__
    if why:
        raise UsageError(f"cannot read '{file}'", why=why, fix="check the path", file=str(file))


def _no_file(file: Path) -> str:
    if file.is_dir():
        return "it is a folder"
    return "it is a device or a pipe" if file.exists() else "no such file"


def target_for(name: str, options: CompileOptions) -> Target:
    """The target of that name; UsageError where `--set` or `--budget` name a level that its platform lacks."""
    from tilewright.plugins import platform
    from tilewright.target import load_target

    target = load_target(name)
    levels = [level.name for level in platform(target.platform).memory]
    for option, sizes in (("--set", options.level_sizes), ("--budget", options.budgets)):
        for level in sizes:
            if level not in levels:
                raise UsageError(
                    f"{option} {level}={sizes[level]}",
                    why=f"target '{target.name}' has no memory level '{level}'",
                    fix="its levels are " + ", ".join(levels),
                )
    return target


def target_names(text: str | None) -> list[str]:
    """Names between commas; all installed targets where none is given."""
    from tilewright.target import known_targets

    names = [name.strip() for name in text.split(",")] if text is not None else list(known_targets())
    if not all(names):
        raise UsageError(f"-t {text}", why="a name is empty", fix="separate names by commas")
    return list(dict.fromkeys(names))


def overflow(report: Report, budgets: Mapping[str, int], *, sure: bool = False) -> DoesNotFit | None:
    """The error for levels that are larger than their memory or their budget; with `sure` by no estimate."""
    from tilewright.report.blame import overflow as overflow_of

    return overflow_of(report, budgets, sure=sure)


def explanation(compiled: Compiled, options: CompileOptions) -> str:
    """What `--explain` prints: every kernel of every node, with the counts of a lock file where one was given, and
    what lives from call to call."""
    from tilewright.binding.lock import load_lock
    from tilewright.report.explain import explain, explain_states
    from tilewright.schedule.engines import layer_times

    counts = load_lock(options.lock).counts if options.lock is not None else None
    times = layer_times(compiled.request)
    return "\n".join([explain(compiled.bound, counts, times), *explain_states(compiled.report.model.states)])


def tell(notes: Sequence[str]) -> None:
    """Log what was chosen for the user, e.g. a batch size."""
    for note in notes:
        _LOG.info("note: %s", note)


def _pairs(option: str, texts: Sequence[str], read: Callable[[str], T]) -> dict[str, T]:
    values: dict[str, T] = {}
    for text in texts:
        name, equals, value = text.partition("=") if option == "--freeze" else text.rpartition("=")
        if not (name and equals and value):
            raise UsageError(
                f"{option} {text}", why="there is no NAME=VALUE in it", fix="see 'tilewright compile --help'"
            )
        try:
            meant = read(value)
        except UsageError as error:
            raise UsageError(f"{option} {text}", why=f"{error.what}, {error.why}", fix=error.fix) from error
        if name in values and values[name] != meant:
            raise UsageError(f"{option} {text}", why=f"'{name}' was given another value before", fix="give it once")
        values[name] = meant
    return values


def _most(text: str) -> int:
    """How many elements there may be."""
    if not text.isascii() or not text.isdigit() or len(text) > 9:
        raise UsageError(
            f"'{text}' is no number of elements", why="it is not a whole number", fix="write for example 20"
        )
    return int(text)


def _shape(text: str) -> tuple[int, ...]:
    extents = [part.strip() for part in text.split(",")]
    if not all(part.isascii() and part.isdigit() for part in extents):
        raise UsageError(
            f"'{text}' is not a shape", why="an extent is not a whole number", fix="write for example 1,3,96,96"
        )
    return tuple(int(part) for part in extents)
