"""Rewrites of the Model: one pass, one file."""
