"""The folder of the evidence: what lies in it, and writing it whole."""

from __future__ import annotations

import json
from pathlib import Path

from tilewright.evidence import document, sbom
from tilewright.evidence.document import Evidence
from tilewright.evidence.page import render

PAGE = "evidence.html"
INPUTS = "inputs"
PROJECT = "project"
MADE = (document.FILE, PAGE, sbom.FILE)
"""The files that follow from the evidence, beside what it was made of."""


def texts(evidence: Evidence) -> dict[str, str]:
    """The files that follow from the evidence, by name."""
    bill = sbom.sbom(evidence.name, evidence.target, evidence.identity)
    return {
        document.FILE: document.dumps(evidence),
        PAGE: render(evidence),
        sbom.FILE: json.dumps(bill, indent=1, ensure_ascii=False) + "\n",
    }


def ours(name: str, place: Path) -> bool:
    """Whether a file of that relative name is one of a folder of evidence, so that a later one may replace it."""
    return name in MADE or name.partition("/")[0] in (INPUTS, PROJECT)
