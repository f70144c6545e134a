"""`--io stream`: every input is read through a node that asks the application for its rows."""

from __future__ import annotations

from tilewright.errors import UnsupportedError
from tilewright.model import Model, Node, Tensor
from tilewright.ops.input_rows import DOMAIN
from tilewright.passes.edit import Edit

CHANNELS_FIRST = (0, 3, 1, 2)


def streamed_inputs(model: Model) -> Model:
    """The network with an InputRows behind each input; a Transpose from NHWC becomes one. UnsupportedError where an
    input has no rows."""
    edit = Edit(model)
    for name in model.given:
        tensor = edit.tensors[name]
        readers = edit.readers(name)
        turned = next((node for node in readers if _turns(node)), None) if len(readers) == 1 else None
        if turned is not None and tensor.shape[0] == 1 and not edit.is_output(name):
            made = Node(turned.name, "InputRows", turned.inputs, turned.outputs, {"perm": CHANNELS_FIRST}, DOMAIN)
            edit.replace(turned, made)
            continue
        _check(tensor)
        if not readers:
            continue
        rows = edit.add_tensor(f"{name}_rows", tensor)
        edit.redirect(name, rows)
        (first, *_) = edit.readers(rows)
        node = Node(edit.node_name(f"{name}_rows"), "InputRows", (name,), (rows,), domain=DOMAIN)
        edit.insert(first, node)
    return edit.result()


def _turns(node: Node) -> bool:
    perm = node.attributes.get("perm", ())
    return (
        node.op == "Transpose" and not node.domain
        and isinstance(perm, tuple | list) and tuple(perm) == CHANNELS_FIRST
    )  # fmt: skip


def _check(tensor: Tensor) -> None:
    if len(tensor.shape) not in (3, 4) or tensor.shape[0] != 1 or tensor.shape[2] < 2:
        raise UnsupportedError(
            f"--io stream cannot stream the input '{tensor.name}'",
            why=f"its shape is {list(tensor.shape)}, and rows are steps of the third of three or four axes, batch 1",
            fix="compile with --io arena or --io caller",
            tensor=tensor.name,
        )
    if tensor.dtype.bits < 8:
        raise UnsupportedError(
            f"--io stream cannot stream the input '{tensor.name}'",
            why=f"elements of {tensor.dtype.bits} bits do not begin with a byte in every row",
            fix="compile with --io arena or --io caller",
            tensor=tensor.name,
        )
