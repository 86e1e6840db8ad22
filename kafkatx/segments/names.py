"""The names of one capture as small integers.

Transactional.ids, topic-partitions, partition lists, unknown tagged fields.

Rows carry the integers, so that they have a fixed size and can be merged, sorted and shipped as arrays.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from kafkatx.kernels.bytes import int16_at, int32_at, uvarint_at
from kafkatx.kernels.transaction_log import end_of_tags
from kafkatx.segments.interning import Interner

TopicPartition = tuple[str, int]


class Names:
    """Codes of everything in a capture that has a name."""

    def __init__(self) -> None:
        self.transactional_ids = Interner()
        self.unknown_tags = Interner()
        self.topic_partitions: list[TopicPartition] = []
        self.partition_lists: list[tuple[int, ...]] = []
        self._partition_codes: dict[TopicPartition, int] = {}
        self._list_codes: dict[tuple[int, ...], int] = {}
        self._encoded_lists = (Interner(), Interner())
        self._list_of_encoded: tuple[list[int], list[int]] = ([], [])

    def transactional_id(self, code: int) -> str:
        """Return the transactional.id behind a code; bytes that are no UTF-8 become U+FFFD."""
        return self.transactional_ids.values[code].decode("utf-8", "replace")

    def partition_code(self, topic: str, partition: int) -> int:
        """Return the code of a topic-partition."""
        code = self._partition_codes.setdefault((topic, partition), len(self.topic_partitions))
        if code == len(self.topic_partitions):
            self.topic_partitions.append((topic, partition))
        return code

    def list_codes(self, data: memoryview, starts: Any, lengths: Any, versions: Any) -> Any:
        """Codes of encoded partition lists; equal sets have equal codes whatever the version that wrote them.

        -1 for null.
        """
        least, greatest = (int(versions.min()), int(versions.max())) if len(versions) else (-1, -1)
        if least == greatest and least in (0, 1):
            return self._codes_of_version(least, data, starts, lengths)
        codes = np.full(len(starts), -1, np.int32)
        for version in (0, 1):
            of_version = np.where(versions == version, lengths, -1)
            codes = np.maximum(codes, self._codes_of_version(version, data, starts, of_version))
        return codes

    def _codes_of_version(self, version: int, data: memoryview, starts: Any, lengths: Any) -> Any:
        """Codes of lists that one version wrote."""
        encoded = self._encoded_lists[version].codes(data, starts, lengths)
        self._decode_new(version)
        known = np.append(np.array(self._list_of_encoded[version], np.int32), np.int32(-1))
        return known[encoded]

    def list_code(self, members: tuple[int, ...]) -> int:
        """Return the code of a set of topic-partition codes given in ascending order."""
        code = self._list_codes.setdefault(members, len(self.partition_lists))
        if code == len(self.partition_lists):
            self.partition_lists.append(members)
        return code

    def _decode_new(self, version: int) -> None:
        """Decode the lists seen for the first time."""
        known = self._list_of_encoded[version]
        for encoded in self._encoded_lists[version].values[len(known) :]:
            members = sorted({self.partition_code(*pair) for pair in _pairs(encoded, version)})
            known.append(self.list_code(tuple(members)))


class Renaming:
    """Gives rows that others named the codes of `names`, which gets the names that are new to it.

    The others may add to their names meanwhile. Each name is looked up once, however many rows have it, and in the
    order in which they met it.
    """

    def __init__(self, others: Names, names: Names) -> None:
        def members_of(code: int) -> tuple[int, ...]:
            pairs = (others.topic_partitions[member] for member in others.partition_lists[code])
            return tuple(sorted(names.partition_code(*pair) for pair in pairs))

        self._columns = {
            "id_code": _Codes(lambda code: names.transactional_ids.code(others.transactional_ids.values[code])),
            "partitions_code": _Codes(lambda code: names.list_code(members_of(code))),
            "unknown_tags_code": _Codes(lambda code: names.unknown_tags.code(others.unknown_tags.values[code])),
        }

    def rename(self, rows: Any) -> Any:
        """Give coordinator rows (kernels.rows.STATE), in place, the codes of `names`; returns them."""
        for column, codes in self._columns.items():
            codes.change(rows[column])
        return rows


class _Codes:
    """What the codes of one kind of names become; -1 stays."""

    def __init__(self, code_of: Callable[[int], int]) -> None:
        self._code_of = code_of
        self._known, self._is_same = np.full(1, -1, np.int32), True

    def change(self, codes: Any) -> None:
        begin, end = len(self._known) - 1, int(codes.max(initial=-1)) + 1
        if end > begin:
            new = np.array([*map(self._code_of, range(begin, end)), -1], np.int32)
            self._is_same &= bool((new[:-1] == np.arange(begin, end)).all())
            self._known = np.concatenate((self._known[:-1], new))
        if not self._is_same:
            codes[:] = self._known[codes]


def _pairs(encoded: bytes, version: int) -> list[TopicPartition]:
    """Topic-partitions of an encoded list that the kernel has found well formed (formats/transaction_log.py)."""
    pairs: list[TopicPartition] = []
    if version == 0:
        topics, at = int32_at.plain(encoded, 0), 4
    else:
        topics, at = uvarint_at.plain(encoded, 0, len(encoded))
        topics -= 1
    for _ in range(topics):
        if version == 0:
            length, at = int16_at.plain(encoded, at), at + 2
            topic, at = encoded[at : at + length].decode("utf-8", "replace"), at + length
            count, at = int32_at.plain(encoded, at), at + 4
        else:
            length, at = uvarint_at.plain(encoded, at, len(encoded))
            topic, at = encoded[at : at + length - 1].decode("utf-8", "replace"), at + length - 1
            count, at = uvarint_at.plain(encoded, at, len(encoded))
            count -= 1
        pairs.extend((topic, int32_at.plain(encoded, at + 4 * number)) for number in range(count))
        at += 4 * max(count, 0)
        at = at if version == 0 else end_of_tags.plain(encoded, at, len(encoded))
    return pairs
