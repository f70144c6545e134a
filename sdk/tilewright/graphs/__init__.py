"""Execution plans as a runtime of their own: graphs built and lowered step by step, runners, state, files."""
