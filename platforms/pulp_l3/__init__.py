"""A PULP cluster whose weights rest in a third, large memory."""

PUBLIC = ("platform",)
"""Modules of which other platforms import names."""
