"""What host and monitor agree on: numbers of operations, regions, refusals. The C is project/templates/monitor.

A frame is sequence, operation, arguments and the CRC-32 of all before, little endian, stuffed as COBS says (Cheshire
and Baker, Consistent Overhead Byte Stuffing, 1999) and ended by a zero byte.
"""

from __future__ import annotations

VERSION = 1
HELLO, READ, WRITE, PREPARE, RUN, GO_ON = range(1, 7)
ANSWER, REFUSED = 0x80, 0xFF
"""What is added to the operation of an answer; the operation of a refusal."""
NO_SESSION, OUTSIDE, NOT_NOW, UNKNOWN = range(1, 5)
RESET_STATE, POISON = 1, 2
"""Of PREPARE: a sequence begins; the arena is overwritten first, so that nothing left in it can help."""
PAINT, PAUSE = 1, 2
"""Of RUN: measure the stack; stop behind every instruction of the plan until GO_ON."""
DONE, PAUSED = 0, 1
TRACED, CYCLES, STACK = 1, 2, 4
"""What HELLO tells: layers can be seen; the board has a counter of cycles; it knows where its stack ends."""
MODEL_SHA256, LAYER_CYCLES, ARENA, STATE, FIRST_PORT = range(5)
"""Regions; behind the last come the inputs, then the outputs."""
MOST_PORTS = 256 - FIRST_PORT
HEAD_BYTES, CHECK_BYTES = 2, 4
SHORTEST_FRAME, LONGEST_FRAME = 32, 254
