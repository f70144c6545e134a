"""A PULP cluster with N-EUREKA, an accelerator of convolutions that takes jobs beside the cores."""

PUBLIC = ("platform",)
"""Modules of which other platforms import names."""
