"""The platform `cuda`."""

PUBLIC = ("memory", "platform")
"""Modules of which other platforms import names."""
