"""The lock file of `tilewright tune`: counted instructions by node and kernel, and what they were counted for.

JSON of the schema `tilewright/lock/1` with a checksum over everything else in it. A compilation replays it only for the
same model, target, options and version; anything else is refused in a sentence (exit 2).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TypeGuard

from tilewright.binding.candidates import accepting
from tilewright.binding.order import Order, Orders, by_cost, by_counts, packed_first
from tilewright.errors import StateError, UsageError
from tilewright.model import Model
from tilewright.options import CompileOptions
from tilewright.output.staged import write_text
from tilewright.platform import Kernel
from tilewright.target import FILE, Target
from tilewright.version import VERSION

SCHEMA = "tilewright/lock/1"
AGAIN = "count again with 'tilewright tune'"


@dataclass(frozen=True)
class Subject:
    """What was counted: SHA-256 of the model and of the target's description, and the options that change the nodes."""

    model: str
    target: str
    target_sha256: str
    options: str


@dataclass(frozen=True)
class Lock:
    """Instructions by node and kernel, and what they hold for; `version` is the SDK's."""

    version: str
    subject: Subject
    counts: Mapping[str, Mapping[str, int]]


def subject_of(model_sha256: str, options: CompileOptions, target: Target) -> Subject:
    """What a compilation is about, as far as counts depend on it."""
    described = (target.folder / FILE).read_bytes() if (target.folder / FILE).is_file() else repr(target).encode()
    digest = hashlib.sha256(described).hexdigest()
    return Subject(model_sha256, target.name, digest, _options_text(options))


def _options_text(options: CompileOptions) -> str:
    """The options that change nodes or kernels, as the command line spells them."""
    words = [f"--optimize {options.optimize}"]
    words += [f"--engine {options.engine}"] if options.engine != "auto" else []
    words += ["--quantized-io"] if options.quantized_io else []
    words += [f"--numerics {options.numerics}"] if options.numerics != "exact" else []
    words += ["--integer-only"] if options.integer_only else []
    words += [f"--real {options.real}"] if options.real != "float" else []
    words += [f"--shape {name}={','.join(map(str, shape))}" for name, shape in sorted(options.shapes.items())]
    words += [f"--freeze {name}={_digest(path)}" for name, path in sorted(options.freeze.items())]
    words += [f"--without-pass {name}" for name in sorted(options.disabled_passes)]
    return " ".join(words)


def _digest(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()[:16]
    except OSError:
        return "unreadable"


def save_lock(lock: Lock, file: Path) -> None:
    """Write a lock file whole or not at all; the same counts give the same bytes."""
    body = _body(lock)
    text = json.dumps({**body, "checksum": _checksum(body)}, indent=2, sort_keys=True, ensure_ascii=False)
    write_text(file, text + "\n")


def _body(lock: Lock) -> dict[str, object]:
    counts = {node: dict(kernels) for node, kernels in lock.counts.items()}
    return {"schema": SCHEMA, "version": lock.version, "subject": asdict(lock.subject), "counts": counts}


def _checksum(body: Mapping[str, object]) -> str:
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode("utf-8")).hexdigest()


def load_lock(file: Path) -> Lock:
    """Read a lock file; UsageError where there is none, StateError where it is damaged or of another version."""
    try:
        body = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(
            f"cannot read lock file '{file}'", why=error.strerror or type(error).__name__, fix=AGAIN, file=str(file)
        ) from error
    except (ValueError, RecursionError) as error:
        raise _damaged(file, "it is not JSON") from error
    if not isinstance(body, dict) or body.get("schema") != SCHEMA:
        raise _damaged(file, f"its schema is not '{SCHEMA}'")
    checksum = body.pop("checksum", None)
    if checksum != _checksum(body):
        raise _damaged(file, "its checksum does not fit its contents")
    subject, counts = body.get("subject"), body.get("counts")
    names = {field.name for field in fields(Subject)}
    if not isinstance(subject, dict) or set(subject) != names or not _are_counts(counts):
        raise _damaged(file, "a field is missing or has another type")
    return Lock(str(body.get("version")), Subject(**{name: str(subject[name]) for name in names}), counts)


def _are_counts(value: object) -> TypeGuard[dict[str, dict[str, int]]]:
    return isinstance(value, dict) and all(
        isinstance(kernels, dict) and all(type(count) is int and count >= 0 for count in kernels.values())
        for kernels in value.values()
    )


def _damaged(file: Path, why: str) -> StateError:
    return StateError(f"lock file '{file}' is damaged", why=why, fix=AGAIN, file=str(file))


def require(lock: Lock, wanted: Subject, file: Path) -> None:
    """StateError where a lock was made for something else than what is compiled."""
    made = lock.subject
    reasons = [
        (lock.version != VERSION, f"version {lock.version} counted it, this is {VERSION}"),
        (made.model != wanted.model, "it was made for another model"),
        (made.target != wanted.target, f"it was made for target '{made.target}', not '{wanted.target}'"),
        (made.target_sha256 != wanted.target_sha256, f"target '{wanted.target}' has changed since"),
        (made.options != wanted.options, f"it was made with '{made.options}', now it is '{wanted.options}'"),
    ]
    if reason := next((why for wrong, why in reasons if wrong), None):
        raise StateError(f"lock file '{file}' does not fit", why=reason, fix=AGAIN, file=str(file))


def order_of(options: CompileOptions, target: Target, kernels: Sequence[Kernel]) -> Orders:
    """The order of kernels for a model: by cost, or by the counts of the lock file in the options.

    StateError for a model or a compilation that the lock was not made for.
    """
    file = options.lock
    if file is None:
        return lambda model: packed_first if options.optimize == "size" else by_cost

    def locked(model: Model) -> Order:
        lock = load_lock(file)
        require(lock, subject_of(model.sha256, options, target), file)
        require_kernels(lock, accepting(model, kernels), file)
        return by_counts(lock.counts)

    return locked


def require_kernels(lock: Lock, offered: Mapping[str, frozenset[str]], file: Path) -> None:
    """StateError where a lock names a node that the network lacks, or a kernel that does not accept its node."""
    for node, kernels in lock.counts.items():
        known = offered.get(node)
        if known is None:
            raise StateError(f"lock file '{file}' is stale", why=f"the network has no node '{node}'", fix=AGAIN)
        if lost := sorted(set(kernels) - known):
            why = f"kernel '{lost[0]}' does not take node '{node}' any more"
            raise StateError(f"lock file '{file}' is stale", why=why, fix=AGAIN, node=node)
