"""What other distributions publish for us: their entry points, whatever group they are of."""

from __future__ import annotations

import logging
from importlib.metadata import EntryPoint, distributions, entry_points

_LOG = logging.getLogger("tilewright")


def published(group: str) -> list[EntryPoint]:
    """The entry points of a group. A distribution whose list is damaged is told of, and the others still count."""
    try:
        return list(entry_points(group=group))
    except Exception as error:  # whatever the parser of a damaged list raises
        _LOG.debug("entry points: %s", error)
    by_distribution: dict[str, list[EntryPoint]] = {}
    for distribution in distributions():
        name = text = ""
        try:
            text = distribution.read_text("entry_points.txt") or ""
            if group in text and (name := str(distribution.metadata["Name"])) not in by_distribution:
                by_distribution[name] = [point for point in distribution.entry_points if point.group == group]
        except Exception as error:
            if group in text:
                _LOG.warning("what '%s' publishes is left out, its entry_points.txt is damaged: %s", name, error)
    return [point for points in by_distribution.values() for point in points]
