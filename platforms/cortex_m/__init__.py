"""The platform `cortex_m`."""

PUBLIC = ("memory", "platform")
"""Modules of which other platforms import names."""
