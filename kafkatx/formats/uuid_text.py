"""Uuids as Kafka prints them: 16 bytes as 22 characters of URL-safe base64 without padding.

Apart from the declarations, so that reading a text file does not load construct.

Source  Uuid.java (2.8 to 4.4); KIP-516.
"""

from __future__ import annotations

import base64
import binascii

UUID_SIZE = 16


def text_of_uuid(data: bytes) -> str:
    """Return the 22 characters of 16 bytes."""
    return base64.urlsafe_b64encode(data).decode("ascii").rstrip("=")


def is_uuid(text: str) -> bool:
    """Whether a text is a uuid as Kafka prints it (topic ids, directory ids)."""
    try:
        data = base64.b64decode(f"{text}==", altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        return False
    return len(data) == UUID_SIZE and text_of_uuid(data) == text
