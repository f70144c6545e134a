"""Which inputs and outputs are one tensor between calls: what the user says, the file says, or exporters' names say.

A file says it in its `metadata_props`, under the key `tilewright.state`, in the words of the option `--state`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from tilewright.arrays import read_arrays
from tilewright.errors import ModelError, TilewrightError, UsageError
from tilewright.frontend.names import nearest, quoted
from tilewright.frontend.raw import Value
from tilewright.model import Array, Model, State, Tensor
from tilewright.options import StateWish

if TYPE_CHECKING:
    import onnx

NAMED = 6
"""Pairs that a note names; of more it counts the others."""
METADATA = "tilewright.state"
"""The key of `metadata_props` under which a file names its states."""
NONE, AUTO = "none", "auto"


@dataclass(frozen=True)
class Pairs:
    """(input, output) by name, in the order of the inputs; those that were `guessed` must still have one shape.

    `from_file` where the file's metadata name them.
    """

    named: tuple[tuple[str, str], ...]
    guessed: frozenset[str] = frozenset()
    from_file: bool = False

    @property
    def past(self) -> frozenset[str]:
        """The inputs."""
        return frozenset(past for past, _ in self.named)


_NAME = r'\s*(?:"((?:[^"]|"")*)"|([^",{}]*[^",{}\s]))\s*'
_PAIR = re.compile(_NAME.format("=", "=") + "=" + _NAME.format("", "") + "(?:,|$)")


def parse_pairs(text: str) -> tuple[tuple[str, str], ...]:
    """`past=present,...` as pairs; ValueError with the reason where it is anything else.

    Names may stand in double quotes, as those with `,` or `=` must; `""` in them is one quote.
    """
    pairs, at = list[tuple[str, str]](), 0
    while True:
        pair = _PAIR.match(text, at)
        if pair is None:
            raise ValueError(f"'{text[at:].split(',')[0].strip()}' is no INPUT=OUTPUT")
        quoted_past, past, quoted_present, present = pair.groups()
        pairs.append((past or quoted_past.replace('""', '"'), present or quoted_present.replace('""', '"')))
        at = pair.end()
        if not pair[0].endswith(","):
            return tuple(pairs)


def named_pairs(proto: onnx.ModelProto, wish: StateWish, file: str) -> Pairs:
    """The pairs that are asked for, by name; UsageError or ModelError for names that the graph does not have."""
    inputs, outputs = [value.name for value in proto.graph.input], [value.name for value in proto.graph.output]
    pairs = wish.pairs if wish.pairs is not None else () if wish.auto else _in_file(proto, file)
    from_file = wish.pairs is None and not wish.auto

    def wrong(what: str, tensor: str, why: str = "", fix: str = "") -> TilewrightError:
        where = f"metadata '{METADATA}'" if from_file else "--state"
        kind = ModelError if from_file else UsageError
        return kind(f"{where}: {what}", why=why, fix=fix, tensor=tensor, file=file)

    for past, present in pairs:
        if past not in inputs:
            raise wrong(f"the model has no input {quoted(past)}", past, fix=nearest(past, inputs))
        if present not in outputs:
            raise wrong(f"the model has no output {quoted(present)}", present, fix=nearest(present, outputs))
    for names, word in (([past for past, _ in pairs], "input"), ([present for _, present in pairs], "output")):
        if twice := next((name for name in names if names.count(name) > 1), ""):
            raise wrong(f"{word} {quoted(twice)} stands in two pairs", twice, "a state has one value", "name it once")
    guessed: tuple[tuple[str, str], ...] = ()
    if wish.auto:
        taken = {name for pair in pairs for name in pair}
        guessed = guessed_pairs([n for n in inputs if n not in taken], [n for n in outputs if n not in taken])
    place = {name: at for at, name in enumerate(inputs)}
    ordered = sorted((*pairs, *guessed), key=lambda pair: place[pair[0]])
    return Pairs(tuple(ordered), frozenset(past for past, _ in guessed), from_file)


def _in_file(proto: onnx.ModelProto, file: str) -> tuple[tuple[str, str], ...]:
    text = next((entry.value for entry in proto.metadata_props if entry.key == METADATA), "").strip()
    try:
        return parse_pairs(text) if text else ()
    except ValueError as error:
        raise ModelError(
            f"the model's metadata '{METADATA}' cannot be read", why=str(error),
            fix="write input=output, or give --state", file=file,
        ) from None  # fmt: skip


_STATEFUL = re.compile(
    r"(?:^|[^a-z])(?:past|cache|state|hidden|mem|memory|buf|buffer|context|history|kv|lstm|gru|rnn|hx|cx|h|c)"
    r"(?:s|\d+)?(?:$|[^a-z])"
)
"""Words of which one stands in the name of what lives between calls, and hardly in that of what a call is given."""
Rule = Callable[[str], Iterable[str]]
_RULES: tuple[Rule, ...] = (
    lambda name: [name.replace("past_key_values", "present"), name.replace("past", "present")],
    lambda name: [re.sub(r"(^|[_./])in(?=$|[_./\d])", r"\1out", name), re.sub(r"input(?=$|[_./\d])", "output", name)],
    lambda name: [f"{name}_out", f"{name}_output", f"out_{name}", f"output_{name}"],
    lambda name: [f"{name}_new", f"new_{name}", f"next_{name}", f"{name}_next", f"updated_{name}", f"{name}_updated"],
    lambda name: [re.sub(r"(^|[_./])(old|prev|previous)(?=[_./])", rf"\1{word}", name) for word in ("new", "next")],
    lambda name: [f"{name}N", f"{name}n", f"{name}_n", re.sub(r"_?0$", "n", name), re.sub(r"_?0$", "_n", name)],
)
"""What exporters call the output of an input: of transformers, streaming encoders, recurrent layers."""


def guessed_pairs(inputs: Sequence[str], outputs: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Inputs and outputs that belong together by the names of usual exporters; what could be two pairs is none."""
    present_of: dict[str, str] = {}
    for name in inputs:
        if not _STATEFUL.search(name.lower()):
            continue
        for rule in _RULES:
            meant = {other for other in rule(name) if other != name and other in outputs}
            if len(meant) == 1:
                present_of[name] = meant.pop()
                break
    owners = list(present_of.values())
    return tuple((past, present) for past, present in present_of.items() if owners.count(present) == 1)


def with_states(model: Model, pairs: Pairs, stored: Mapping[str, Value], wish: StateWish, file: str) -> Model:
    """The model with its states, their types and first values checked, and a sentence on what the user did not say.

    UsageError where the two of a pair differ in type or shape, or where `--state-init` does not fit.
    """
    accepted = []
    for past, present in pairs.named:
        a, b = model.tensors[past], model.tensors[present]
        if (a.dtype, a.shape) == (b.dtype, b.shape) and not b.lengths:
            accepted.append((past, present))
        elif past not in pairs.guessed:
            raise UsageError(
                f"{quoted(present)} cannot be the next {quoted(past)}",
                why=f"it is {_form(b)}, the input is {_form(a)}" if not b.lengths else "data decides how long it is",
                fix="give the input the output's shape with --shape, or leave the pair out", tensor=past, file=file,
            )  # fmt: skip
    if wish.auto and not accepted:
        raise UsageError(
            "--state auto finds no state",
            why="no input and output of one type and shape are named like past_x and present_x, x_in and x_out, "
            "cache and cache_out, state and stateN",
            fix="name them with --state input=output", file=file,
        )  # fmt: skip
    given = _first_values(wish.initial, [model.tensors[past] for past, _ in accepted])
    initial = {name: value.array for name, value in stored.items()} | given
    states = tuple(State(past, present, initial.get(past)) for past, present in accepted)
    for state in states:
        _held_against(model.tensors[state.past], state.initial, file)
    told = [f"'{a}' <- '{b}'" for a, b in accepted if a in pairs.guessed or pairs.from_file]
    if len(told) > NAMED:
        told[NAMED - 1 :] = [f"and {len(told) - NAMED + 1} more"]
    note = (f"state by {'the file' if pairs.from_file else 'name'}: {', '.join(told)}",) if told else ()
    return replace(model, states=states, notes=(*model.notes, *note))


def _first_values(file: Path | None, tensors: Sequence[Tensor]) -> dict[str, Array]:
    if file is None:
        return {}
    arrays, known = read_arrays(file), {tensor.name: tensor for tensor in tensors}
    for name, array in arrays.items():
        if name not in known:
            raise UsageError(
                f"--state-init {file}: {quoted(name)} is no state", fix=nearest(name, known), file=str(file)
            )
        tensor = known[name]
        if array.shape != tensor.shape or array.dtype != tensor.dtype.numpy:
            raise UsageError(
                f"--state-init {file}: {quoted(name)} is {array.dtype}{list(array.shape)}",
                why=f"the state is {tensor.dtype.numpy}{list(tensor.shape)}",
                fix="pass values of the state's type and shape", tensor=name, file=str(file),
            )  # fmt: skip
    return {name: np.ascontiguousarray(array).reshape(known[name].shape) for name, array in arrays.items()}


def _held_against(tensor: Tensor, initial: Array | None, file: str) -> None:
    """An initialiser of a state's name must have its type and shape."""
    if initial is not None and (initial.shape != tensor.shape or initial.dtype != tensor.dtype.numpy):
        raise UsageError(
            f"the initialiser of state {quoted(tensor.name)} is {initial.dtype}{list(initial.shape)}",
            why=f"the state is {_form(tensor)}", fix="set its first value with --state-init", tensor=tensor.name,
            file=file,
        )  # fmt: skip


def _form(tensor: Tensor) -> str:
    return f"{tensor.dtype.value}{list(tensor.shape)}"
