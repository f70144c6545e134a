"""Build, start on the target, compare, count."""
