"""Counting the candidate kernels of every node in the simulator, and the lock file that replays the choice."""
