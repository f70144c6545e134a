"""What a platform imports that writes its whole project itself, from the placed plan.

`Platform(emitter="acme.emit")` names a module with the function

    emit(placed: PlacedPlan, levels: Sequence[MemoryLevel], flags: Sequence[str]) -> Artifacts

and says in `supports` what its code can be. No names of a platform's interface could stand for what such a module
reads: it is the plan itself, its slots, instructions and offsets, and how the generated C of `tilewright.codegen` is
made up. So these are the stages' own types, under one name for all; they follow the stages from version to version,
which kernels never notice. Only modules that a platform names as its emitter import from here.
"""

from tilewright.codegen.artifacts import Artifacts, Parts
from tilewright.codegen.comments import safe, shape_text
from tilewright.codegen.functions import Function
from tilewright.codegen.interface import Interface
from tilewright.codegen.parameters import parameters
from tilewright.codegen.render import render
from tilewright.memory.buffer_layout import BufferLayout, layout_of
from tilewright.memory.placed import PlacedPlan
from tilewright.plan.aliasing.alias_sets import view_shift
from tilewright.plan.plan import ExecutionPlan, Instruction, view_root
from tilewright.sizes import align_up
from tilewright.version import VERSION

__all__ = [
    "VERSION", "Artifacts", "BufferLayout", "ExecutionPlan", "Function", "Instruction", "Interface", "Parts",
    "PlacedPlan", "align_up", "layout_of", "parameters", "render", "safe", "shape_text", "view_root", "view_shift",
]  # fmt: skip
