"""What is told of each text of `fixtures/pages` and `fixtures/pages_later`, worked out once for all who ask."""

from functools import cache
from typing import Any

from kafkatx.local.diagnosis import diagnose
from kafkatx.outputs.diagnosis_json import document
from kafkatx.terms.errors import NothingReadableError
from tests.evidence import fixtures

FOLDERS = (fixtures() / "pages", fixtures() / "pages_later")


@cache
def told(name: str) -> dict[str, Any]:
    """Return the document of a text, named by its path below `fixtures`; of one that can't be read its state alone."""
    try:
        return document(diagnose([fixtures() / name]), "test")
    except NothingReadableError:
        return {"answer": {"state": "not read"}, "findings": [], "next": []}
