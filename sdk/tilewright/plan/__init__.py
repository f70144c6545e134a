"""The execution plan: slots, instructions, live ranges, the NumPy executor."""
