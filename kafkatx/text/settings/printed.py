"""`... values:` blocks in logs: what a client or a broker runs with, printed at its start with all its defaults.

Shape   a line that ends with `ProducerConfig values:`, then lines of a tab, a name, ` = ` and the value, names in the
        order of the alphabet (AbstractConfig.logAll); log4j patterns with the class last leave it on a line of its own.
Prefix  of containers and collectors before each line: all lines of a block have the same but for digits.
Limits  names that play no part for transactions are left out; of more than MOST_BLOCKS blocks a source only those that
        differ from the one before in more than their names are kept.
Source  AbstractConfig.logAll; ProducerConfig, ConsumerConfig, AdminClientConfig, KafkaConfig, StreamsConfig and others.
"""

from __future__ import annotations

import re
from dataclasses import field
from functools import lru_cache
from typing import NamedTuple

from kafkatx.terms.catalogue.setting_names import is_known, scope_of_group
from kafkatx.terms.records import dataclass
from kafkatx.terms.regex import regex
from kafkatx.terms.secrets import shown_value
from kafkatx.text.events import Setting
from kafkatx.text.settings.files import LONGEST_VALUE

MOST_BLOCKS = 1_000
MOST_LINES, LONGEST_KEPT = 4096, 200
"""Lines that are kept as they were read, and characters of the longest: clients print the same blocks again."""
HEADING = " values:"
"""The literal that every block begins with."""
_HEADING = regex(
    r"(?:^|[\s.\"])(?P<title>[A-Z][A-Za-z]{2,60}Config)(?:\$[A-Za-z]{1,40})? values:\s*(?P<rest>.*)", re.DOTALL
)
_VALUE = regex(r"(?P<lead>.{0,400}?(?:\s|^))(?P<name>[a-z][a-zA-Z0-9_.\-]{0,200}) =(?: (?P<value>.*)| ?)", re.DOTALL)
_DIGITS = regex(r"[0-9]+")
_SCOPES = {
    "ProducerConfig": "producer",
    "ConsumerConfig": "consumer",
    "AdminClientConfig": "admin",
    "KafkaConfig": "broker",
    "StreamsConfig": "streams",
    "DistributedConfig": "connect",
    "StandaloneConfig": "connect",
    "ConnectorConfig": "connect",
    "SourceConnectorConfig": "connect",
    "EnrichedConnectorConfig": "connect",
    "EnrichedSourceConnectorConfig": "connect",
    "MirrorSourceConfig": "connect",
    "MirrorMakerConfig": "connect",
}
_IDENTITIES = ("client.id", "transactional.id")


@dataclass(slots=True)
class ValuesBlocks:
    """Reads one source line by line; `settings` grow with each block that ends, `block` numbers the next one.

    Give it every line while `is_open`, and each line that holds HEADING; call `close` at the end.
    """

    source: int
    block: int = 0
    settings: list[Setting] = field(default_factory=list)
    _title: str | None = None
    _lead: str | None = None
    _pairs: list[tuple[int, str, str]] = field(default_factory=list)
    _last: dict[str, str] = field(default_factory=dict)

    @property
    def is_open(self) -> bool:
        """Whether the next line may belong to a block."""
        return self._title is not None

    def feed(self, number: int, text: str) -> bool:
        """Take a line; returns whether it belongs to a block (its first line as well)."""
        heading = _HEADING.search(text) if HEADING in text else None
        if heading:
            self.close()
            self._title, self._lead = heading["title"], None
            for line in re.split(r"\\n|\n", heading["rest"]):
                self._take(number, line.replace("\\t", "\t"), is_inside=True)
            return True
        if not self.is_open:
            return False
        if text.strip() and not self._take(number, text):
            self.close()
            return False
        return True

    def close(self) -> None:
        """End the block that is open, if one is."""
        if self._title is not None and self._pairs and self._is_kept():
            scope = _SCOPES.get(self._title) or scope_of_group(name for _, name, _ in self._pairs)
            self.settings.extend(
                Setting(scope, name, shown_value(name, value)[:LONGEST_VALUE], self.source, number, self.block, True)
                for number, name, value in self._pairs
                if is_known(name)
            )
            self.block += 1
        self._title, self._pairs = None, []

    def _take(self, number: int, text: str, is_inside: bool = False) -> bool:
        """Take a line of a block; names come in order, so that a log line with ` = ` in it is none."""
        found = _pair(text) if len(text) > LONGEST_KEPT else _kept_pair(text)
        if found is None or (self._pairs and found.name <= self._pairs[-1][1]):
            return False
        if self._lead is not None and found.lead != self._lead and not is_inside:
            return False
        self._lead = found.lead
        self._pairs.append((number, found.name, found.value))
        return True

    def _is_kept(self) -> bool:
        values = {name: value for _, name, value in self._pairs if name not in _IDENTITIES}
        is_new, self._last = values != self._last, values
        return self.block < MOST_BLOCKS or is_new


class _Pair(NamedTuple):
    """A line of a block; `lead` is what stands before the name, with noughts for its digits."""

    lead: str
    name: str
    value: str


def _pair(text: str) -> _Pair | None:
    found = _VALUE.fullmatch(text.rstrip('\r\n"'))
    if found is None:
        return None
    return _Pair(_DIGITS.sub("0", found["lead"]), found["name"], (found["value"] or "").strip())


_kept_pair = lru_cache(maxsize=MOST_LINES)(_pair)
