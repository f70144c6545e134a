"""What writes the project of a placed plan: the SDK's own generator, or the module that a platform names."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from functools import partial

from tilewright.codegen.artifacts import Artifacts
from tilewright.codegen.blob import WeightRegion
from tilewright.codegen.emit import emit
from tilewright.errors import PlatformError, UsageError
from tilewright.memory.placed import PlacedPlan
from tilewright.pipeline import Depends
from tilewright.platform import Feature, MemoryLevel
from tilewright.schedule.request import Request, request

Generator = Callable[[PlacedPlan, Sequence[MemoryLevel], Sequence[str]], Artifacts]


def generator(request: Request = Depends(request)) -> Generator:
    """What writes the project."""
    return emitter(request)


def emitter(request: Request, regions: tuple[WeightRegion, ...] = ()) -> Generator:
    """What writes the project, with these regions of weights outside: the platform's own module where it names one."""
    chosen = request.platform
    if request.options.context and not chosen.can(Feature.CONTEXT):
        raise UsageError(
            "--context asks for several instances",
            why=f"platform '{chosen.name}' writes its own code, and that is one network",
            fix="leave it out",
        )
    weights = request.options.weights
    if weights == "bin" and (regions or chosen.emitter):
        raise UsageError(
            "--weights bin asks for one binary file",
            why="regions lie in blobs of their own" if regions else f"platform '{chosen.name}' writes its own code",
            fix="leave it out",
        )
    slice_instructions = request.options.slice_instructions
    if not chosen.emitter:
        return partial(
            emit, regions=regions, context=request.options.context, weights=weights,
            text=request.options.tokenizer is not None, slice_instructions=slice_instructions,
        )  # fmt: skip
    if slice_instructions:
        raise UsageError(
            "--slice asks for a network in slices", why=f"platform '{chosen.name}' writes its own code, which has none",
            fix="leave it out",
        )  # fmt: skip
    try:
        own: Callable[..., Artifacts] = importlib.import_module(chosen.emitter).emit
    except (ImportError, AttributeError) as error:
        raise PlatformError(
            f"platform '{chosen.name}' cannot write its code", why=str(error), fix=f"mend '{chosen.emitter}'"
        ) from error
    given = {"regions": regions} if regions else {}
    if request.options.tokenizer is not None:
        why = f"platform '{chosen.name}' writes its own code"
        raise UsageError("--tokenizer asks for text in and out", why=why, fix="leave it out")
    return partial(own, **given, **({"context": True} if request.options.context else {}))
