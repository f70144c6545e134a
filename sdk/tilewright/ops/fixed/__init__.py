"""What operators mean on real numbers in fixed point: codes of 32 bits whose step is a power of two.

A tensor in fixed point is quantised as any other, `real = code / 2^bits`, and no code is 2^30 or more: the passes
choose `bits` from a bound on the tensor's values, so that nothing wraps or saturates. Every meaning is of whole numbers
whose C is the same to the last bit; how far it lies from real arithmetic is its `error`.
"""
