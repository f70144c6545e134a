"""A counterexample on the target itself: the image is started with these inputs, and the layer's result read back."""

from __future__ import annotations

import numpy as np

from tilewright.compile import Compiled
from tilewright.model import Array
from tilewright.prove.result import Counterexample
from tilewright.run.image import Image
from tilewright.run.simulate import DumpEntry, execute


def confirmed(example: Counterexample, layer: str, compiled: Compiled, image: Image) -> str:
    """The target's name where its layer stores what was said; empty where that cannot be asked, or is not so."""
    plan, placed = compiled.plan, compiled.placed
    inputs = list[Array]()
    for slot in plan.input_slots:
        tensor = plan.slots[slot].tensor
        codes = example.operands.get(tensor.name)
        if codes is None or len(codes) != tensor.elements:
            return ""
        inputs.append(np.asarray(codes, tensor.dtype.numpy).reshape(tensor.shape))
    instruction = next(each for each in plan.instructions if each.name == layer)
    slot = next(slot for slot in instruction.outputs if plan.slots[slot].tensor.name == example.tensor)
    where = plan.slots[slot]
    if slot not in placed.slot_offsets:
        return ""
    entry = DumpEntry(instruction.index, where.tensor.name, placed.slot_offsets[slot], where.tensor.size_bytes, "")
    dump = execute(image, [array.tobytes() for array in inputs], dump=[entry]).dumps[0]
    logical = where.layout.unpack(np.frombuffer(dump.data, where.tensor.dtype.numpy), where.tensor.shape)
    return image.target.name if int(logical.reshape(-1)[example.element]) == example.stored else ""
