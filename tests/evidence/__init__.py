"""Where recorded cases lie: `fixtures/` always; the larger collection they were chosen from where it is at hand."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
FIXTURES = ROOT / "fixtures"
COLLECTION = Path(os.environ.get("KAFKATX_CASES", ROOT.parent / "shared" / "groundtruth"))
"""All recorded cases, with logs and configuration; not part of the repository and often absent."""


def fixture_cases() -> list[Path]:
    """Return the folders of all cases in the repository, by name."""
    return sorted(path.parent for path in FIXTURES.glob("*/case.json"))


def all_cases() -> list[Path]:
    """Return the folders of all cases at hand: the repository's, then those that only the collection holds."""
    kept = fixture_cases()
    names = {case.name for case in kept}
    return kept + sorted(path.parent for path in COLLECTION.glob("*/case.json") if path.parent.name not in names)


def expectations(case: Path) -> dict[str, Any]:
    """Return what `case.json` says about a case."""
    found: dict[str, Any] = json.loads((case / "case.json").read_text())
    return found


def broker_folders(case: Path) -> list[Path]:
    """Return the data directories of a case."""
    return sorted(path for path in case.glob("broker-*") if path.is_dir())


def groundtruth() -> Path | None:
    """Return the folder of all recorded cases (`KAFKATX_GROUNDTRUTH` names another), None where it is absent."""
    folder = Path(os.environ.get("KAFKATX_GROUNDTRUTH") or COLLECTION)
    return folder if folder.is_dir() else None


def fixtures() -> Path:
    """Return the folder of the cases in the repository."""
    return FIXTURES


def cases() -> Iterator[Path]:
    """Yield the folders of all cases of the collection when present, else of the repository, by name."""
    yield from sorted(path.parent for path in (groundtruth() or fixtures()).glob("*/case.json"))
