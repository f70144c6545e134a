"""Decisions as a file that people may edit: read in the place of the search, written beside what it found.

There is no checksum over the decisions, since whoever edits them could not compute it; each is checked when it is
followed. SHA-256 of the model and the platform's name say what they are for.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from tilewright.errors import StateError
from tilewright.frontend.names import nearest
from tilewright.output.staged import write_text
from tilewright.schedule.decisions import Decisions
from tilewright.schedule.decisions_json import decisions_in, decisions_out
from tilewright.schedule.deployment import Deployment
from tilewright.schedule.question import Question
from tilewright.tiling.solution import solution_of

SCHEMA = "tilewright/decisions/1"
LARGEST = 64 << 20
_KEYS = ("schema", "model", "platform", "decisions")


def write_decisions(decisions: Decisions, model_sha256: str, platform: str, file: Path) -> None:
    """Write a file of decisions whole or not at all; the same decisions give the same bytes."""
    body = {"schema": SCHEMA, "model": model_sha256, "platform": platform, "decisions": decisions_out(decisions)}
    write_text(file, json.dumps(body, indent=1, ensure_ascii=False) + "\n")


def read_decisions(file: Path, model_sha256: str, platform: str) -> Decisions:
    """The decisions of a file; what it leaves out is not decided. StateError where it is wrong or for another model."""
    body = _body(file)
    for key, expected in (("schema", SCHEMA), ("model", model_sha256), ("platform", platform)):
        if body.get(key) != expected:
            raise _refused(file, f"its {key} is {_quoted(body.get(key))}, this one is '{expected}'")
    decisions, every = body.get("decisions"), decisions_out(Decisions())
    if not isinstance(decisions, dict):
        raise _refused(file, "it has no object 'decisions'")
    _require_known(file, body, _KEYS)
    _require_known(file, decisions, every)
    try:
        return decisions_in({**every, **decisions})
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise _refused(file, f"a decision has another form than we write ({type(error).__name__}: {error})") from error


def followed(question: Question, file: Path) -> Deployment:
    """The deployment that a file decides, without any search; tiles are solved for where it has none.

    StateError, UsageError, UnsupportedNode or DoesNotFit where the decisions cannot be followed.
    """
    decisions = read_decisions(file, question.lowered.loaded.sha256, question.request.platform.name)
    bound = Deployment(question, Decisions(order=decisions.order)).rebound_as(decisions.kernels)
    kernels = bound.decisions.kernels
    nodes = {*kernels, *(node.name for node in question.lowered.model.nodes)}
    named = [*decisions.kernels, *(name for chain in decisions.row_chains for name in chain.nodes)]
    if unknown := next((name for name in named if name not in nodes), None):
        raise _refused(file, f"the network has no node '{unknown}'; {nearest(unknown, nodes)}")
    for node, kernel in decisions.kernels.items():
        if kernels.get(node) != kernel:
            raise _refused(file, f"node '{node}' cannot be bound to '{kernel}', see compile --explain")
    decisions = replace(decisions, kernels=kernels)
    if any(chain.rows < 1 for chain in decisions.row_chains):
        raise _refused(file, "a chain computes less than one row at a time")
    deployment = Deployment(question, decisions)
    if decisions.tiles is None:
        cut = question.cut(deployment.graph)
        solved = replace(decisions, tiles=solution_of(cut), stacks_beside=cut.stack_bytes > 0)
        deployment = Deployment(question, solved)
    return deployment


def _body(file: Path) -> Mapping[str, Any]:
    try:
        with file.open("rb") as stream:
            content = stream.read(LARGEST + 1)
        if len(content) > LARGEST:
            raise _refused(file, f"it has more than {LARGEST:,} bytes")
        body = json.loads(content)
    except OSError as error:
        raise _refused(file, error.strerror or type(error).__name__) from error
    except (ValueError, RecursionError) as error:
        raise _refused(file, f"it is not JSON ({error})") from error
    if not isinstance(body, dict):
        raise _refused(file, "it is no JSON object")
    return body


def _require_known(file: Path, given: Mapping[str, object], known: Iterable[str]) -> None:
    if unknown := next((key for key in given if key not in set(known)), None):
        raise _refused(file, f"it has '{unknown}', which is nothing that is decided; {nearest(unknown, known)}")


def _quoted(value: object) -> str:
    return f"'{value}'" if isinstance(value, str) else "missing"


def _refused(file: Path, why: str) -> StateError:
    return StateError(
        f"the decisions in '{file.name}' cannot be followed", why=why,
        fix="correct it, or write it again with 'tilewright compile --write-decisions'", file=str(file),
    )  # fmt: skip
