"""Kernels of the platform `cuda`."""
