"""What a report says of calls one after the other: the states between them, and a sequence that was run."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class StateReport:
    """An input `name` that takes after every call the value of the output `output`, and lives until the next one.

    `copied` says what forbids to write that value over the last one; empty where it is written there.
    """

    name: str
    output: str
    dtype: str
    shape: tuple[int, ...]
    bytes: int
    copied: str = ""


@dataclass(frozen=True)
class SlicesReport:
    """How a network is run in parts of about `asked` instructions: in `count` of them, of which the longest takes about
    `longest_instructions`, as its kernels estimate them, and computes `longest_layers`."""

    asked: int
    count: int
    longest_instructions: int
    longest_layers: tuple[str, ...]


@dataclass(frozen=True)
class TextReport:
    """What a language model wrote behind a prompt: the whole text, how many of its `tokens` are the prompt's, and the
    bytes of its tokeniser's tables in read-only memory, which no memory level counts. `same_choices` counts the tokens
    that are also the best ones for another implementation which is fed the same text; None where there is none.

    Where prompts are read `chunk_tokens` at a time, `chunks` were, and each costs `chunk_cost`, in what calls cost."""

    text: str
    prompt_tokens: int
    tokens: tuple[int, ...]
    tokeniser_bytes: int
    same_choices: int | None = None
    chunk_tokens: int | None = None
    chunks: int | None = None
    chunk_cost: int | None = None


@dataclass(frozen=True)
class ReadingReport:
    """How well a language model foresees `tokens` tokens of a text: its perplexity in the target's arithmetic, that of
    the file in floats, and how often both have the same best token; None where that file cannot be run."""

    tokens: int
    perplexity: float
    float_perplexity: float | None = None
    same_choices: int | None = None


@dataclass(frozen=True)
class BoardReport:
    """The real board that ran the network: the `port` it was at, whether its firmware tells of single layers, and what
    the line cost: questions, how many of them were repeated, frames that came in damaged."""

    port: str
    traced: bool
    questions: int
    repeats: int
    damaged_frames: int


@dataclass(frozen=True)
class FramesReport:
    """Calls one after the other. `first_difference` names the first call and tensor that differ from NumPy's, whose
    states go on by themselves; `reference_first` and the elements that differ are those of another implementation.

    `mean_cost`, `worst_cost` and `worst_call` (counted from 0) are in instructions, or in cycles where the target
    models time; None where nothing counts single calls.
    """

    calls: int
    first_difference: str = ""
    reference: str = ""
    reference_missing: str = ""
    reference_mismatches: int = 0
    reference_first: str = ""
    mean_cost: int | None = None
    worst_cost: int | None = None
    worst_call: int | None = None
