"""Texts that the package carries: tables beside its modules, from a folder or a zip."""

from __future__ import annotations

from pkgutil import get_data


def packaged_text(package: str, name: str) -> str:
    """Return a text that lies in a package, whose name is given relative to it; raises OSError where it lacks."""
    found = get_data(package, name)
    if found is None:
        raise FileNotFoundError(f"{package} holds no {name}")
    return found.decode()
