"""Kernels of the platform `pulp`; each computes one tile in L1 on all cores."""
