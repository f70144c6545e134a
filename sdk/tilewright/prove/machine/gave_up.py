"""Why a symbolic run ends before its function does."""


class GaveUp(Exception):
    """What the machine met that it has no meaning for, in words that a report can show."""
