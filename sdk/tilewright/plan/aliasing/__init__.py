"""Aliasing: operators that only move bytes write and read where those bytes lie already."""
