"""Names replaced in texts: whole ones, wherever they stand, but for those that programs print as words of their own.

Whole     no letter and no digit before or behind: `orders` in `orders-0`, `[orders]`, `'orders'`, not in `reorders`.
Words     a name that programs print as a word (`events`, `data`) is replaced only where a line shows that it is a
          name: `topic=events`, `events-0`, `'events'`, `[events]`. In free text it stays.
Addresses of IPv4 and IPv6, but loopback; four numbers behind "version" are none.
Payloads  what dump tools and `ProducerRecord(...)` print of keys and values is masked, as long as it was.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from kafkatx.local.redacting.stand_ins import StandIns
from kafkatx.local.redacting.vocabulary import is_common
from kafkatx.terms.regex import regex, regex_of_names

_IPV4 = regex(r"(?<![\w.])(?!0\.|127\.)(?:\d{1,3}\.){3}\d{1,3}(?!\.?\w)")
_IPV6 = regex(
    r"(?<![\w:.])(?:(?:[0-9a-fA-F]{1,4}:){7}[0-9a-fA-F]{1,4}"
    r"|(?:[0-9a-fA-F]{1,4}:){1,6}(?::[0-9a-fA-F]{1,4}){1,6}|(?:fe|fd|fc)[0-9a-f]{2}::)(?![\w:])"
)
_BEFORE_VERSION = regex(r"(?:ersion|elease|-clients|librdkafka|v)\W{0,4}$", re.IGNORECASE)
_DECODED = regex(
    r" payload: ?(?:transaction_metadata|offset_commit|group_metadata|producerId:|\{\"|<DELETE>)|endTxnMarker: "
)
_PRINTED = regex(
    r"(?P<key>(?<= key: ).*?(?= payload: |$))|(?P<payload>(?<= payload: ).*$)|(?P<headers>(?<= headerKeys: \[)[^\]]*)"
)
_RECORD = regex(r"(?:(?<=[ ,(]key=)|(?<=[ ,(]value=)|(?<=[ ,(]key = )|(?<=[ ,(]value = )).*?(?=, \w+ ?=|\)\s|\)$|$)")
_TOKEN = regex(r"[A-Za-z0-9]+(?:[._-]+[A-Za-z0-9]+)*")
_PIECES = regex(r"[A-Za-z0-9]+|[._-]+")
MOST_SEEN = 100_000
"""Tokens whose answer is remembered."""
MOST_PIECES = 64
"""Words and signs of a name, at most."""


class TextNames:
    """Replaces names in lines."""

    def __init__(self, names: StandIns) -> None:
        """Prepare for the names that are known by now."""
        self.names = names
        self.known: dict[str, str] = {}
        self._seen: dict[str, str] = {}
        for of_kind in (names.hosts, names.topics, names.clients, names.groups, names.ids):
            self.known.update(of_kind)
        self.kept = sorted(name for name in self.known if is_common(name))
        whole = {name for name in self.known if not is_common(name)}
        self._plain = frozenset(name for name in whole if _TOKEN.fullmatch(name))
        self._odd = _pattern(whole - self._plain, r"(?<![A-Za-z0-9])", r"(?![A-Za-z0-9])")
        hosts = [name for name in self.kept if name in names.hosts]
        self._hosts = _pattern(hosts, r"(?<![\w.-])", r"(?=[:/]\d)")
        self._marked = _marked([name for name in self.kept if name not in names.hosts])

    def bytes(self, content: bytes) -> bytes:
        """Return lines of a text changed."""
        text = content.decode("utf-8", "surrogateescape")
        lines = text.splitlines(keepends=True) if "\n" in text else [text]
        return "".join(map(self.line, lines)).encode("utf-8", "surrogateescape")

    def line(self, line: str) -> str:
        """Return a line changed."""
        line = _masked(line)
        line = self.word(line)
        for pattern in (self._hosts, self._marked):
            if pattern is not None:
                line = pattern.sub(self._stand_in, line)
        if line.count(".") >= 3:
            line = _IPV4.sub(self._address, line)
        if "::" in line or line.count(":") >= 7:
            line = _IPV6.sub(lambda found: self.names.address_of(found[0]), line)
        return line

    def word(self, word: str) -> str:
        """Return a text with the names changed that are no words of programs."""
        if self._odd is not None:
            word = self._odd.sub(self._stand_in, word)
        return _TOKEN.sub(self._token, word) if self._plain else word

    def _token(self, found: re.Match[str]) -> str:
        """Letters and digits between dots, dashes and underscores: in it the longest names first, from the left."""
        token = found[0]
        if token not in self._seen:
            if len(self._seen) >= MOST_SEEN:
                self._seen.clear()
            self._seen[token] = self._looked_up(token)
        return self._seen[token]

    def _looked_up(self, token: str) -> str:
        pieces, made, at = _PIECES.findall(token), "", 0
        while at < len(pieces):
            ends = range(len(pieces) if len(pieces) - at <= MOST_PIECES else at + MOST_PIECES, at, -1)
            end = next((end for end in ends if "".join(pieces[at:end]) in self._plain), None)
            made += pieces[at] if end is None else self.known["".join(pieces[at:end])]
            at = at + 1 if end is None else end
        return made

    def _stand_in(self, found: re.Match[str]) -> str:
        return self.known[found[0]]

    def _address(self, found: re.Match[str]) -> str:
        before = found.string[max(0, found.start() - 16) : found.start()]
        is_address = all(int(part) < 256 for part in found[0].split(".")) and not _BEFORE_VERSION.search(before)
        return self.names.address_of(found[0]) if is_address else found[0]


def _pattern(names: Iterable[str], before: str, behind: str) -> re.Pattern[str] | None:
    quoted = [re.escape(name) for name in sorted(names, key=lambda name: (-len(name), name))]
    return regex_of_names(f"{before}(?:{'|'.join(quoted)}){behind}") if quoted else None


def _marked(names: list[str]) -> re.Pattern[str] | None:
    """Names that are words, where a line shows that they are names."""
    if not names:
        return None
    name = f"(?:{'|'.join(re.escape(one) for one in sorted(names, key=len, reverse=True))})"
    leads = "|".join(
        rf"(?<={lead}{sign}){name}(?![\w.])"
        for lead in ("topic", "topics", "groupId", "clientId", "transactionalId", "group.id", "client.id")
        for sign in ("=", ": ", " = ")
    )
    ids = rf"(?<=transactional.id=){name}(?![\w.])|(?<=transactional.id = ){name}(?![\w.])"
    quoted = rf"(?<=['\"\[(]){name}(?=['\"\])])|(?<=topic ){name}(?![\w.])"
    return regex_of_names(rf"{leads}|{ids}|{quoted}|(?<![\w.-]){name}(?=-\d+(?![\w.-]))")


def _masked(line: str) -> str:
    """A line without what tools and clients print of keys and values."""
    if " payload: " in line and not _DECODED.search(line):
        line = _PRINTED.sub(_mask, line)
    if "Record(" in line:
        line = _RECORD.sub(_mask, line)
    return line


_mask: Callable[[re.Match[str]], str] = lambda found: re.sub(r"[^\r\n]", "x", found[0])  # noqa: E731
