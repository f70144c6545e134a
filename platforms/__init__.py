"""The platforms: one folder each, found by place."""
