"""What the rules about known defects say of a text, as it was pasted."""

from __future__ import annotations

from pathlib import Path

from kafkatx.findings.finding import Finding
from kafkatx.local.diagnosis import diagnose


def found_in(rule: str, folder: Path, text: str) -> list[Finding]:
    """Return what a rule finds in a text."""
    path = folder / f"page-{len(list(folder.iterdir()))}.md"
    path.write_text(text)
    return [one.finding for one in diagnose([path]).findings if one.finding.rule == rule]


def told(rule: str, folder: Path, text: str) -> Finding:
    """Return the one finding of a rule in a text."""
    (found,) = found_in(rule, folder, text)
    return found
