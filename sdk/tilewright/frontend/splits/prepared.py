"""What stands before a model of ai.onnx.ml: Scaler, Normalizer, Imputer, Binarizer, encoders, features put together."""

from __future__ import annotations

import numpy as np

from tilewright.frontend.splits.linear_models import rows
from tilewright.frontend.splits.parts import Parts
from tilewright.frontend.splits.scores import ML
from tilewright.model import Array, DType


def _scaler(parts: Parts) -> None:
    """`(x - offset) * scale`."""
    x = parts.input(0)
    if parts.tensor(0).dtype is not DType.F32:
        x = parts.op("Cast", x, to=1)
    offset, scale = (parts.constant(parts.numbers(name, (default,)), DType.F32)
                     for name, default in (("offset", 0.0), ("scale", 1.0)))  # fmt: skip
    parts.op("Mul", parts.op("Sub", x, offset), scale, into=parts.output(0))


def _normalizer(parts: Parts) -> None:
    """Rows divided by their largest number or their norm; rows of zeros stay so."""
    x, kind = rows(parts), parts.text("norm", "MAX")
    if kind not in ("MAX", "L1", "L2"):
        raise parts.invalid(f"attribute 'norm' is '{kind}'")
    op = {"MAX": "ReduceMax", "L1": "ReduceL1", "L2": "ReduceL2"}[kind]
    norm = parts.op(op, x, parts.constant([1]), keepdims=1)
    zero = parts.op("Equal", norm, parts.constant(0, DType.F32))
    norm = parts.op("Where", zero, parts.constant(1, DType.F32), norm)
    if parts.shape(0) and len(parts.shape(0)) == 1:
        parts.reshape(parts.op("Div", x, norm), parts.shape(0), parts.output(0))
    else:
        parts.op("Div", x, norm, into=parts.output(0))


def _binarizer(parts: Parts) -> None:
    dtype = parts.tensor(0).dtype
    passed = parts.op("Greater", parts.input(0), parts.like(0, parts.number("threshold", 0.0)))
    parts.op("Where", passed, parts.constant(1, dtype), parts.constant(0, dtype), into=parts.output(0))


def _imputer(parts: Parts) -> None:
    real = parts.tensor(0).dtype.is_float
    values = parts.numbers("imputed_value_floats" if real else "imputed_value_int64s", ())
    missing = parts.number("replaced_value_float", 0.0) if real else parts.whole("replaced_value_int64", 0)
    if not values:
        raise parts.invalid("it has no values to impute")
    if missing != missing:
        holes = parts.op("IsNaN", parts.input(0))
    else:
        holes = parts.op("Equal", parts.input(0), parts.like(0, missing))
    parts.op("Where", holes, parts.like(0, values), parts.input(0), into=parts.output(0))


def _extractor(parts: Parts) -> None:
    """Columns by number, as a row for each row."""
    shape = parts.shape(0)
    x = parts.reshape(parts.input(0), (1, *shape)) if len(shape) == 1 else parts.input(0)
    indices = parts.reshape(parts.input(1), (-1,))
    parts.op("Gather", x, indices, into=parts.output(0), axis=-1)


def _one_hot(parts: Parts) -> None:
    if parts.node.attributes.get("cats_strings"):
        raise parts.unsupported("its categories are text", "encode them before the model, as numbers")
    categories = parts.numbers("cats_int64s", ())
    if not parts.whole("zeros", 1):
        raise parts.unsupported("it fails on a category that it does not know", "export with handle_unknown='ignore'")
    x, dtype = parts.op("Unsqueeze", parts.input(0), parts.constant([-1])), parts.tensor(0).dtype
    if dtype.is_float:  # whole numbers are compared, as casts make them
        x = parts.op("Cast", x, to=7)
    elif dtype is not DType.I64:
        x = parts.op("Cast", x, to=7)
    parts.op("Cast", parts.op("Equal", x, parts.constant(categories)), into=parts.output(0), to=1)


def _vectorizer(parts: Parts) -> None:
    taken = []
    for index in range(len(parts.node.inputs)):
        shape, name = parts.shape(index), parts.input(index)
        if parts.tensor(index).dtype is not DType.F32:
            name = parts.op("Cast", name, to=1)
        taken.append(name if len(shape) > 1 else parts.reshape(name, (1, -1)))
    parts.op("Concat", *taken, into=parts.output(0), axis=-1)


def _encoder(parts: Parts) -> None:
    """Numbers for numbers: `key == x` chooses the value, and none the default. Later keys win, as in a dictionary."""
    keys, values = _side(parts, "keys"), _side(parts, "values")
    if keys.size != values.size:
        raise parts.invalid(f"it has {keys.size} keys and {values.size} values")
    stored = parts.stored("default_tensor")
    if stored is None:
        stored = parts.number("default_int64", -1) if values.dtype.kind == "i" else parts.number("default_float", -0.0)
    dtype = DType.of(values.dtype)
    table = dict(zip(keys.tolist(), values.tolist(), strict=True))
    default = parts.constant(np.asarray(stored).reshape(()), dtype)
    low, high = min(table, default=0), max(table, default=0)
    if keys.dtype.kind == "i" and table and high - low < 4 * len(table) + 16:
        _by_table(parts, table, (int(low), int(high)), np.asarray(stored).reshape(()).astype(values.dtype))
        return
    result = default
    for key, value in table.items():
        same = (
            parts.op("IsNaN", parts.input(0)) if key != key else parts.op("Equal", parts.input(0), parts.like(0, key))
        )
        result = parts.op("Where", same, parts.constant(value, dtype), result)
    if table:
        parts.op("Identity", result, into=parts.output(0))
    else:
        parts.op("Expand", result, parts.constant(parts.shape(0)), into=parts.output(0))


def _by_table(parts: Parts, table: dict[int, float], limits: tuple[int, int], default: Array) -> None:
    """Keys that lie closely: an entry for each, and one on either side for all others."""
    low, high = limits
    entries = [default, *(table.get(key, default) for key in range(low, high + 1)), default]
    place = parts.op("Clip", parts.input(0), parts.like(0, low - 1), parts.like(0, high + 1))
    place = parts.op("Sub", place, parts.like(0, low - 1))
    name = parts.constant(np.asarray(entries, default.dtype), DType.of(default.dtype))
    parts.op("Gather", name, place, into=parts.output(0), axis=0)


def _side(parts: Parts, side: str) -> Array:
    """Keys or values, which are numbers."""
    stored = parts.stored(f"{side}_tensor")
    for name, dtype in ((f"{side}_int64s", np.int64), (f"{side}_floats", np.float32)):
        if stored is None and parts.node.attributes.get(name):
            return np.asarray(parts.numbers(name), dtype)
    if stored is None:
        raise parts.unsupported(f"its {side} are text", "encode labels and categories as numbers")
    return np.asarray(stored).reshape(-1)


def _zip_map(parts: Parts) -> None:
    why, fix = "it makes a list of dictionaries", "convert with zipmap=False (skl2onnx, options={id(model): {...}})"
    raise parts.unsupported(why, fix)


SPLITS = {
    (ML, "Scaler"): _scaler,
    (ML, "Normalizer"): _normalizer,
    (ML, "Binarizer"): _binarizer,
    (ML, "Imputer"): _imputer,
    (ML, "ArrayFeatureExtractor"): _extractor,
    (ML, "OneHotEncoder"): _one_hot,
    (ML, "FeatureVectorizer"): _vectorizer,
    (ML, "LabelEncoder"): _encoder,
    (ML, "ZipMap"): _zip_map,
}
