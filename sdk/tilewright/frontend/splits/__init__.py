"""Operators of other makers' domains as nodes of the standard: one family, one file, each ends with `SPLITS`."""
