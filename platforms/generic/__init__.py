"""Portable C99: runs everywhere, every other platform may inherit from it."""
