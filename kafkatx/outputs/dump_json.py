"""JSON as Kafka's tools print it (Jackson): no blanks, text as it is, control characters as `\u001f`.

Limits  numbers of clients' quotas are the only ones with a point; Java writes them as 1.048576E7.
"""

from __future__ import annotations

import json
import re
from decimal import Decimal
from typing import Any

from kafkatx.terms.regex import regex

_ESCAPE = regex(r"\\(u00[01][0-9a-f]|.)")
_FLOAT = regex(r'(?<=":)-?[0-9.]+(?:e[+-]?[0-9]+)?(?=[,}])')
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def jackson(value: Any) -> str:
    """Return a value as JSON on one line."""
    text = _encode(value)
    return _ESCAPE.sub(_upper, text) if "\\u00" in text else text


def jackson_with_floats(value: Any) -> str:
    """Return a value as JSON on one line; numbers with a point as Java prints a double."""
    return _FLOAT.sub(lambda found: _java_double(found.group()), jackson(value))


def _upper(found: re.Match[str]) -> str:
    what = found.group(1)
    return f"\\u{what[1:].upper()}" if len(what) > 1 else found.group()


def _java_double(text: str) -> str:
    """Return a double as Double.toString: plain from 0.001 to below ten million, else with an exponent."""
    number = Decimal(text)
    if not set(text) & set(".e") or not number or Decimal("0.001") <= abs(number) < 10_000_000:
        return text
    digits = "".join(map(str, number.as_tuple().digits)).rstrip("0")
    return f"{'-' * number.is_signed()}{digits[0]}.{digits[1:] or '0'}E{number.adjusted()}"
