"""Golden files: texts that are compared whole, and rewritten only by `pytest --update-golden`."""

import difflib
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Golden:
    """The golden files of one folder."""

    folder: Path
    update: bool

    def __call__(self, name: str, actual: str) -> None:
        """Fail with a diff unless the golden file `name` holds exactly `actual`."""
        compare(self.folder / name, actual, update=self.update)


def compare(path: Path, actual: str, *, update: bool) -> None:
    """Hold `actual` against the text of `path`; with `update` the file is rewritten and the comparison passes."""
    if update:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(actual.encode())
    expected = path.read_bytes().decode() if path.exists() else ""
    if expected != actual:
        raise AssertionError(f"{difference(expected, actual, path.name)}\nIf this is meant: pytest --update-golden")


def difference(expected: str, actual: str, name: str) -> str:
    """Return a unified diff from what is kept to what was printed."""
    lines = difflib.unified_diff(
        expected.splitlines(), actual.splitlines(), f"{name} (kept)", f"{name} (now)", lineterm=""
    )
    return "\n".join(lines)
