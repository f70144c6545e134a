"""Functions that emitted modules bring along, as source text; a module holds those that it uses."""

from __future__ import annotations

LOAD = '''
def load_weights(path):
    """The tensors of a safetensors file by name."""
    with open(path, "rb") as file:
        data = bytearray(file.read())
    (length,) = struct.unpack_from("<Q", data)
    header = json.loads(data[8 : 8 + length])
    types = {
        "F64": torch.float64, "F32": torch.float32, "F16": torch.float16, "I64": torch.int64, "I32": torch.int32,
        "I16": torch.int16, "I8": torch.int8, "U8": torch.uint8, "BOOL": torch.bool,
    }
    found = {}
    for name, entry in header.items():
        if name != "__metadata__":
            begin, end = entry["data_offsets"]
            raw = torch.tensor(data[8 + length + begin : 8 + length + end], dtype=torch.uint8)
            found[name] = raw.view(types[entry["dtype"]]).reshape(entry["shape"])
    return found
'''

SAVE = '''
def save_weights(module, path):
    """Write the state of a module as a safetensors file, for `tilewright import-torch`."""
    types = {
        torch.float64: "F64", torch.float32: "F32", torch.float16: "F16", torch.int64: "I64", torch.int32: "I32",
        torch.int16: "I16", torch.int8: "I8", torch.uint8: "U8", torch.bool: "BOOL",
    }
    header, parts, at = {"__metadata__": {"model_sha256": module.MODEL_SHA256}}, [], 0
    for name, value in module.state_dict().items():
        raw = value.detach().cpu().contiguous().numpy().tobytes()
        header[name] = {
            "dtype": types[value.dtype], "shape": list(value.shape), "data_offsets": [at, at + len(raw)],
        }
        parts.append(raw)
        at += len(raw)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + b"".join(parts))
'''

_DEQUANTISE = '''
def dequantise(codes, scale, zero_point):
    """Real numbers of codes, in float32."""
    return (codes.double() - zero_point).float() * scale
'''

_QUANTISE = '''
def quantise(values, scale, zero_point, low, high):
    """Codes of real numbers: the float32 quotient rounded half to even; gradients pass as if it were not rounded."""
    steps = torch.nan_to_num(values / scale, nan=-(2.0**30)).clamp(-(2.0**30), 2.0**30)
    smooth = (steps + zero_point).clamp(low, high)
    with torch.no_grad():
        codes = (torch.round(steps) + zero_point).clamp(low, high)
    return codes + (smooth - smooth.detach())
'''

_REQUANTISE = '''
def requantise(sums, multiplier, zero_point, low, high, count=1, residue=None):
    """Codes of exact sums: clamp(zero_point + round_half_even(sums * multiplier / count), low, high), in integers.

    `residue` adds a fraction to the sums, in units of 2**-16. Gradients pass as if nothing were rounded.
    """
    factor = torch.as_tensor(multiplier, dtype=torch.float64, device=sums.device)
    smooth = (sums * (factor / count) + zero_point).clamp(low, high)
    with torch.no_grad():
        mantissa, exponent = torch.frexp(factor)
        numerator = (mantissa * 2**24).long()
        shift = (24 - exponent.long()).clamp(max=58 - count.bit_length())  # beyond, every code is the zero point
        denominator = torch.ones_like(numerator) << shift
        scaled = sums.round().long() * numerator
        if residue is not None:
            part = residue * numerator
            scaled = (scaled + (part >> 16)) * 2 + ((part & 65535) != 0)
            denominator = denominator * 2
        denominator = denominator * count
        quotient = torch.div(scaled, denominator, rounding_mode="floor")
        twice = (scaled - quotient * denominator) * 2
        up = (twice > denominator) | ((twice == denominator) & (quotient % 2 == 1))
        codes = (quotient + up + zero_point).clamp(low, high)
    return (codes + (smooth - smooth.detach())).float()
'''

_LOOKUP = '''
def lookup(codes, table, lowest):
    """The entry of a table for every code; the first entry is that of the lowest code."""
    return table[codes.long() - lowest].float()
'''

_SOFTMAX_CODES = '''
def softmax_codes(codes, table, factor, fraction_bits, zero_point, low, high, dim):
    """Softmax in integers: exponentials from a table by the distance from the largest code, one exact quotient."""
    wide = codes.long()
    powers = table[wide.amax(dim, keepdim=True) - wide]
    total = powers.sum(dim, keepdim=True) << fraction_bits
    quotient = torch.div(powers * factor, total, rounding_mode="floor")
    twice = (powers * factor - quotient * total) * 2
    up = (twice > total) | ((twice == total) & (quotient % 2 == 1))
    return (quotient + up + zero_point).clamp(low, high).float()
'''

_LSTM = '''
def lstm(x, w, r, b, hidden, cell, reverse):
    """One direction of an LSTM as ONNX orders it, gates i, o, f, c: every hidden state, the last one, the last cell."""
    found = []
    for step in reversed(x) if reverse else x:
        i, o, f, c = (step @ w.T + hidden @ r.T + b).chunk(4, dim=-1)
        cell = torch.sigmoid(f) * cell + torch.sigmoid(i) * torch.tanh(c)
        hidden = torch.sigmoid(o) * torch.tanh(cell)
        found.append(hidden)
    return torch.stack(found[::-1] if reverse else found), hidden, cell
'''

_GRU = '''
def gru(x, w, r, wb, rb, hidden, reverse, linear_before_reset):
    """One direction of a GRU as ONNX orders it, gates z, r, h: every hidden state, and the last one."""
    found = []
    for step in reversed(x) if reverse else x:
        xz, xr, xh = (step @ w.T + wb).chunk(3, dim=-1)
        rz, rr, rh = r.chunk(3)
        bz, br, bh = rb.chunk(3)
        z, reset = torch.sigmoid(xz + hidden @ rz.T + bz), torch.sigmoid(xr + hidden @ rr.T + br)
        if linear_before_reset:
            h = torch.tanh(xh + reset * (hidden @ rh.T + bh))
        else:
            h = torch.tanh(xh + (reset * hidden) @ rh.T + bh)
        hidden = (1 - z) * h + z * hidden
        found.append(hidden)
    return torch.stack(found[::-1] if reverse else found), hidden
'''

HELPERS = {
    "dequantise": _DEQUANTISE, "quantise": _QUANTISE, "requantise": _REQUANTISE, "lookup": _LOOKUP,
    "softmax_codes": _SOFTMAX_CODES, "lstm": _LSTM, "gru": _GRU,
}  # fmt: skip
"""The functions by name, in the order in which a module holds them."""
