"""URLs of object stores: what of them is shown, and what it takes to open them, which may be secret.

Shown     `s3://bucket/key`: without credentials and query, the key letter for letter as the store has it. That is the
          path of an object everywhere; nothing that is shown, written or compared knows more.
Given     `s3://KEY:SECRET@bucket/key?endpoint_override=HOST:PORT&scheme=http&region=...`, as Arrow reads it; a `?` in a
          key can't be given. `file:///folder` is the folder.
Source    arrow::fs::FileSystemFromUri and the options of each file system (Arrow 16 to 26); RFC 3986.
"""

from __future__ import annotations

import os
import re
from dataclasses import field
from urllib.parse import unquote, urlsplit

from kafkatx.terms.errors import UsageError
from kafkatx.terms.records import dataclass
from kafkatx.terms.regex import regex

ALIASES = {"s3a": "s3", "s3n": "s3", "gcs": "gs"}
SCHEMES = ("s3", "gs", "abfs", "abfss", "hdfs", "viewfs")
OF_BUCKETS = ("s3", "gs")
"""Schemes whose URL begins with a bucket, which has no port, and before it nothing that is no secret."""
OF_DEFAULT_HOST = ("hdfs", "viewfs")
HIDDEN = "[hidden]"

_URL = regex(r"([A-Za-z][A-Za-z0-9+.-]*)://")
_BUCKET, _HOST = regex(r"[\w.-]+", re.ASCII), regex(r"[\w.-]+(:\d+)?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Way:
    """How a bucket is reached: its URL as it is shown, and as Arrow opens it; `is_told`: it says more than the name."""

    shown: str
    uri: str = field(repr=False)
    is_told: bool = False

    def hide(self, text: str) -> str:
        """Return a text without what the URL holds beside the name of the bucket."""
        place = urlsplit(self.uri)
        held = [self.uri, *place.netloc.rpartition("@")[0].split(":")]
        held += [value for pair in place.query.split("&") for value in (pair, pair.partition("=")[2])]
        spelled = {form for one in held for form in (one, unquote(one)) if len(form) > 1 and form not in self.shown}
        for secret in sorted(spelled, key=len, reverse=True):
            text = text.replace(secret, HIDDEN)
        return text


def is_url(path: str) -> bool:
    """Whether a path, as it is shown, lies in a store."""
    scheme, separator, _ = path.partition("://")
    return bool(separator) and scheme in SCHEMES


def resolved(given: str) -> tuple[str, Way | None]:
    """Return a path as it is shown, and how its store is reached; raises UsageError, which shows no secret."""
    begin = _URL.match(given)
    if begin is None:
        return given, None
    scheme = ALIASES.get(begin[1].lower(), begin[1].lower())
    rest = given[begin.end() :]
    if scheme == "file":
        return _local(rest), None
    if scheme not in SCHEMES:
        if os.path.lexists(given):
            return given, None
        raise UsageError(f"{scheme}:// is no store that is read; those are s3, gs, abfs, hdfs, and file")
    place, _, query = rest.partition("?")
    authority, _, key = place.partition("/")
    way = _way(scheme, authority, query)
    key = key.rstrip("/")
    return (f"{way.shown}/{key}" if key else way.shown), way


def root_of(path: str) -> str:
    """Return the bucket of a URL: `s3://bucket`."""
    end = path.find("/", path.index("://") + 3)
    return path if end < 0 else path[:end]


def _local(rest: str) -> str:
    host, _, path = rest.partition("/")
    if host not in ("", "localhost"):
        raise UsageError(f"file://{host}: a file of another machine; write file:/// and its path here")
    return "/" + unquote(path)


def _way(scheme: str, authority: str, query: str) -> Way:
    user, _, host = authority.rpartition("@")
    form = _BUCKET if scheme in OF_BUCKETS else _HOST
    if not form.fullmatch(host) and (host or scheme not in OF_DEFAULT_HOST):
        raise UsageError(
            f"{scheme}://: what stands before the first / is no {'bucket' if scheme in OF_BUCKETS else 'host'}; "
            "write / as %2F and @ as %40 in a key or password"
        )
    name = "" if scheme in OF_BUCKETS else user.partition(":")[0]
    shown = f"{scheme}://{name}@{host}" if name else f"{scheme}://{host}"
    uri = f"{scheme}://{authority}/{'?' if query else ''}{query}"
    return Way(shown, uri, bool(query) or user != name)
