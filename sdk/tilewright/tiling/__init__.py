"""Tile schedules from index maps."""
