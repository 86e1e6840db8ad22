"""kafkatx: forensics for Kafka transactions. What `__all__` names is the library; see docs/library.md.

Names are loaded when they are first used, so that importing the package costs next to nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kafkatx.local.diagnosis import diagnose
    from kafkatx.local.evidence import Evidence, open
    from kafkatx.local.history import history
    from kafkatx.local.location import locate
    from kafkatx.local.records import records
    from kafkatx.tables.view_files import views
    from kafkatx.terms.errors import KafkatxError, NothingReadableError, UsageError

__version__ = "0.1.0"
__all__ = [
    "Evidence",
    "KafkatxError",
    "NothingReadableError",
    "UsageError",
    "__version__",
    "diagnose",
    "history",
    "locate",
    "open",
    "records",
    "views",
]

_PLACES = {
    "Evidence": "kafkatx.local.evidence",
    "KafkatxError": "kafkatx.terms.errors",
    "NothingReadableError": "kafkatx.terms.errors",
    "UsageError": "kafkatx.terms.errors",
    "diagnose": "kafkatx.local.diagnosis",
    "history": "kafkatx.local.history",
    "locate": "kafkatx.local.location",
    "open": "kafkatx.local.evidence",
    "records": "kafkatx.local.records",
    "views": "kafkatx.tables.view_files",
}


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module 'kafkatx' has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(_PLACES[name]), name)


def __dir__() -> list[str]:
    return __all__
