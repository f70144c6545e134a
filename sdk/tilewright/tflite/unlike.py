"""What kernels of TensorFlow Lite Micro compute in a way that ONNX's nodes do not say: told beside the network.

A converted file lists such results in its metadata, so that `--numerics tflm` can refuse them; exactly rounded codes do
not depend on it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

METADATA = "tilewright.unlike_tflm"
"""The key of `metadata_props`: a JSON object of the names of results and words of `WHY`."""
WRAPPED_STATE, NARROW_SUMS, COPIED_STATE, CUT_LIMIT = "wrapped_state", "narrow_sums", "copied_state", "cut_limit"
SUMMED_ZERO, MANY_ADDENDS, MISREAD_BIAS = "summed_zero", "many_addends", "misread_bias"
TYPE_OF_ROWS, FORM_OF_ROWS, LONG_ROWS, STEEP_SCALES = "type_of_rows", "form_of_rows", "long_rows", "steep_scales"
FLOATS_BETWEEN, MOVED_CODES = "floats_between", "moved_codes"
WHY: Mapping[str, str] = {
    WRAPPED_STATE: "its codes are limited before the zero point is added, and wrap around behind it",
    COPIED_STATE: "the codes of its state are copied to a result of another scale",
    CUT_LIMIT: "the limit of its cell lies between two codes",
    NARROW_SUMS: "it adds codes of 16 bits up in 32 bits, those of 64 are known",
    SUMMED_ZERO: "its zero point is added once more than it is taken away",
    MISREAD_BIAS: "its bias has 32 bits, and the kernels read 64",
    TYPE_OF_ROWS: "the kernels take no codes but int8 here",
    FORM_OF_ROWS: "it is not over the last axis, or its result is not in the one form that the kernels give",
    LONG_ROWS: "its sums leave 32 bits",
    STEEP_SCALES: "its scales are further apart than the kernels take",
    FLOATS_BETWEEN: "it is made of floats that were codes before, by arithmetic of floats or to another scale",
    MOVED_CODES: "the kernels copy codes of another scale as they are",
    MANY_ADDENDS: "it adds more than two tensors up before it rounds",
}


def written(words: Mapping[str, str]) -> str:
    """The metadata's text for the words of some results."""
    return json.dumps(dict(words))


def read(text: str) -> tuple[tuple[str, str], ...]:
    """Results and their words; ValueError for any other text."""
    words = json.loads(text) if text else {}
    if not isinstance(words, dict) or any(not isinstance(word, str) or word not in WHY for word in words.values()):
        raise ValueError(f"it is no object of results and the words {', '.join(WHY)}")
    return tuple((str(name), word) for name, word in words.items())
