"""Kernels of Siracusa, found by their modules."""
