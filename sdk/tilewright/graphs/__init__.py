"""Execution plans as a runtime of their own, beside what compiling needs: graphs built and lowered step by step,
runners, tiles in NumPy, state, files."""
