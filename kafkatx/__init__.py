"""kafkatx: forensics for Kafka transactions. `diagnose`, `history` and `open` are the library; see docs/library.md.

Names are loaded when they are first used, so that importing the package costs next to nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kafkatx.local.diagnosis import diagnose

__version__ = "0.1.0"
__all__ = ["__version__", "diagnose"]

_PLACES = {"diagnose": "kafkatx.local.diagnosis"}


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module 'kafkatx' has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(_PLACES[name]), name)


def __dir__() -> list[str]:
    return __all__
