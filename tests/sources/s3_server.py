"""A store that speaks enough of the S3 protocol for a client that reads: ListObjectsV2, HEAD, ranged GET, on loopback.

It counts what it is asked, and fails as it is told to. Signatures are not checked, but for whether there is one.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape

LAST_MODIFIED, LAST_MODIFIED_ISO = "Sat, 21 Nov 2026 10:29:00 GMT", "2026-11-21T10:29:00.000Z"
PAGE = 1000
FIRST_HIDDEN = {ord(sign): f"&#{ord(sign)};" for sign in "\n\r\t"}


@dataclass(frozen=True, slots=True)
class Asked:
    """A request: method, key (None for the bucket), the value of its Range, its Authorization."""

    method: str
    key: str | None
    range: str | None
    authorization: str | None


@dataclass(slots=True)
class Bucket:
    """What lies in the bucket, what was asked, and how keys fail: a status, or what to do with the bytes of a GET."""

    name: str
    objects: dict[str, bytes] = field(default_factory=dict)
    asked: list[Asked] = field(default_factory=list)
    status: dict[tuple[str, str], int] = field(default_factory=dict)
    spoiled: dict[str, Callable[[bytes], bytes]] = field(default_factory=dict)
    cut: set[str] = field(default_factory=set)
    refuses_all: int | None = None
    port: int = 0

    def put_folder(self, folder: Path, prefix: str) -> None:
        """Put every file of a folder."""
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                self.objects[f"{prefix}/{path.relative_to(folder).as_posix()}"] = path.read_bytes()

    def url(self, key: str, user: str = "AKIAFLEET:Geheim123") -> str:
        """A URL by which a client finds this server, with credentials."""
        who = f"{user}@" if user else ""
        return f"s3://{who}{self.name}/{key}?scheme=http&endpoint_override=127.0.0.1:{self.port}&region=eu-central-1"

    def count(self, method: str, key: str | None) -> int:
        """How often something was asked."""
        return sum(one.method == method and one.key == key for one in self.asked)


def _handler(bucket: Bucket) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            pass

        def do_HEAD(self) -> None:
            self._answer()

        def do_GET(self) -> None:
            self._answer()

        def _answer(self) -> None:
            place = urlsplit(self.path)
            name, _, rest = place.path.lstrip("/").partition("/")
            key = unquote(rest) or None
            asked = Asked(self.command, key, self.headers.get("Range"), self.headers.get("Authorization"))
            bucket.asked.append(asked)
            if bucket.refuses_all is not None:
                self._refuse(bucket.refuses_all)
            elif name != bucket.name:
                self._refuse(404, "NoSuchBucket")
            elif key is None:
                self._list({name: value[0] for name, value in parse_qs(place.query, keep_blank_values=True).items()})
            else:
                self._object(asked, key)

        def _object(self, asked: Asked, key: str) -> None:
            status = bucket.status.get((self.command, key))
            if status is not None or key not in bucket.objects:
                self._refuse(status or 404, "NoSuchKey")
                return
            body = bucket.objects[key]
            if self.command == "HEAD":
                self._send(200, b"", len(body))
                return
            begin, end = 0, len(body)
            if asked.range:
                first, _, last = asked.range.removeprefix("bytes=").partition("-")
                begin, end = int(first), int(last or end) + 1
            if begin >= len(body) and body:
                self._refuse(416, "InvalidRange")
                return
            part = bucket.spoiled.get(key, bytes)(body[begin:end])
            if key in bucket.cut:
                self._send(206, part[: len(part) // 2], len(part))
                self.close_connection = True
                return
            self._send(206 if asked.range else 200, part, len(part))

        def _list(self, query: dict[str, str]) -> None:
            if self.command == "HEAD":
                self._send(200, b"", 0)
                return
            prefix, delimiter = query.get("prefix", ""), query.get("delimiter")
            start, most = query.get("continuation-token", ""), min(int(query.get("max-keys", PAGE)), PAGE)
            keys = sorted(key for key in bucket.objects if key.startswith(prefix) and key > start)
            found, folders, last = [], [], start
            for key in keys:
                cut = key.find(delimiter, len(prefix)) if delimiter else -1
                if cut >= 0 and key[: cut + 1] in folders:
                    last = key
                    continue
                if len(found) + len(folders) >= most:
                    break
                last = key
                (folders.append(key[: cut + 1]) if cut >= 0 else found.append(key))
            more = bool(keys) and last < keys[-1]
            body = self._page(prefix, found, folders, last if more else None)
            self._send(200, body.encode(), len(body.encode()), "application/xml")

        def _page(self, prefix: str, keys: list[str], folders: list[str], last: str | None) -> str:
            rows = "".join(
                f"<Contents><Key>{escape(key, {chr(c): e for c, e in FIRST_HIDDEN.items()})}</Key>"
                f"<LastModified>{LAST_MODIFIED_ISO}</LastModified>"
                f"<ETag>&quot;1&quot;</ETag><Size>{len(bucket.objects[key])}</Size></Contents>"
                for key in keys
            )
            rows += "".join(f"<CommonPrefixes><Prefix>{escape(one)}</Prefix></CommonPrefixes>" for one in folders)
            token = f"<NextContinuationToken>{escape(last)}</NextContinuationToken>" if last is not None else ""
            return (
                '<?xml version="1.0" encoding="UTF-8"?><ListBucketResult>'
                f"<Name>{bucket.name}</Name><Prefix>{escape(prefix)}</Prefix><KeyCount>{len(keys)}</KeyCount>"
                f"<IsTruncated>{'true' if last is not None else 'false'}</IsTruncated>{token}{rows}</ListBucketResult>"
            )

        def _refuse(self, status: int, code: str = "") -> None:
            code = code if status in (404, 416) else {403: "AccessDenied"}.get(status, "InternalError")
            body = f"<?xml version='1.0'?><Error><Code>{code}</Code><Message>refused</Message></Error>".encode()
            self._send(status, body if self.command == "GET" else b"", len(body))

        def _send(self, status: int, body: bytes, size: int, kind: str = "application/octet-stream") -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(size))
            self.send_header("Last-Modified", LAST_MODIFIED)
            self.send_header("ETag", '"1"')
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(body)

    return Handler


@contextmanager
def serving(name: str) -> Iterator[Bucket]:
    """Serve an empty bucket of some name while a block runs."""
    bucket = Bucket(name)
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(bucket))
    server.daemon_threads = True
    bucket.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield bucket
    finally:
        server.shutdown()
        server.server_close()
