"""A real board as one more place where a compiled network runs: its stream of bytes, and the monitor behind it."""
