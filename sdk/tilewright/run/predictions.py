"""The file of `--predictions`: what a network said of each sample, as a table or as arrays."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

import numpy as np

from tilewright.errors import UsageError
from tilewright.model import Array
from tilewright.output.cells import csv_text
from tilewright.output.staged import write_bytes, write_text

ENDINGS = (".csv", ".npz")
MOST_COLUMNS = 1000
"""Elements of an output that a table has columns for; .npz holds any number."""
_DATE = (1980, 1, 1, 0, 0, 0)


def check_file(file: Path, elements: int) -> None:
    """UsageError for a name that says neither form, and for more elements than a table has columns for."""
    if file.suffix.lower() not in ENDINGS:
        raise UsageError(
            f"--predictions {file}", why=f"its name ends in '{file.suffix}'",
            fix="name a file that ends in .csv or .npz", file=str(file),
        )  # fmt: skip
    if file.suffix.lower() == ".csv" and elements > MOST_COLUMNS:
        raise UsageError(
            f"--predictions {file}", why=f"it would have a column for each of {elements} elements of the outputs, and "
            f"a table has {MOST_COLUMNS} at the most", fix="name a file that ends in .npz", file=str(file),
        )  # fmt: skip


def write_predictions(
    file: Path, names: Sequence[str], outputs: Sequence[Array], classes: Array | None, labels: Array | None
) -> None:
    """Write outputs by name, `predicted` class numbers and `labels` where there are, whole or not at all.

    In a table each sample is a row, and outputs have a column for each element.
    """
    if file.suffix.lower() == ".csv":
        write_text(file, _table(names, outputs, classes, labels))
        return
    arrays = {_member(name, n): values for n, (name, values) in enumerate(zip(names, outputs, strict=True))}
    for key, numbers in (("predicted", classes), ("labels", labels)):
        if numbers is not None:
            arrays.setdefault(key, numbers)
    write_bytes(file, _archive(arrays))


def _table(names: Sequence[str], outputs: Sequence[Array], classes: Array | None, labels: Array | None) -> str:
    columns: dict[str, Sequence[object]] = {"sample": range(len(outputs[0]))}
    for key, numbers in (("label", labels), ("predicted", classes)):
        if numbers is not None:
            columns[key] = numbers.tolist()
    heads, cells = list(columns), list(columns.values())
    for name, values in zip(names, outputs, strict=True):
        flat = values.reshape(len(values), -1)
        heads += [name] if flat.shape[1] == 1 else [f"{name}[{n}]" for n in range(flat.shape[1])]
        cells += [[str(v) for v in column] if flat.dtype.kind == "V" else column.tolist() for column in flat.T]
    return csv_text(heads, list(zip(*cells, strict=True)))


def _member(name: str, number: int) -> str:
    """A name inside of an archive that stays in the folder where somebody unpacks it."""
    parts = PurePosixPath(name).parts
    return f"output_{number}" if not parts or "\\" in name or {"/", "..", "//"} & set(parts) else name


def _archive(arrays: dict[str, Array]) -> bytes:
    """An .npz; the same arrays give the same bytes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, values in arrays.items():
            member = io.BytesIO()
            np.lib.format.write_array(member, np.ascontiguousarray(values), allow_pickle=False)
            entry = zipfile.ZipInfo(f"{name}.npy", _DATE)
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, member.getvalue())
    return buffer.getvalue()
