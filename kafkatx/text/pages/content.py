"""Which internal topic a dumped record is of, by what a decoder printed of it: pages often show rows without a header.

A decoder of the dump tool is asked for one topic, and titles its keys: nothing else prints `transaction_metadata::`, or
a key beside a value with producer id, state and partitions. The partition is the one that the name in the key belongs
to, with the default of 50 partitions, since nothing else is known.
Source  DumpLogSegments (--transaction-log-decoder, --offsets-decoder), TransactionLog, GroupMetadataManager (to 4.3).
"""

from __future__ import annotations

from kafkatx.terms.regex import regex
from kafkatx.terms.topics import CONSUMER_OFFSETS, TRANSACTION_STATE, partition_for
from kafkatx.text.pages.naming import NamedFile

PARTITIONS = 50
"""transaction.state.log.num.partitions and offsets.topic.num.partitions, unless somebody has changed them."""
_STATE = regex(
    r"(?:headerKeys: \[\]|isTransactional: false|\.\.\.)\s+key: (?:transaction_metadata::)?transactionalId=(.{1,500}?)"
    r"\s+payload:\s*(?:producerId:-?\d+,producerEpoch:|<DELETE>|$)"
    r'|\skey: \{"(?:type|version)":"?\d+"?,"data":\{"transactionalId":"(.{1,500}?)"\}'
)
_OFFSET = regex(
    r"\skey: offset_commit::group=(.{1,255}?),partition=|\skey: group_metadata::group=(.{1,255}?)(?:\s|$)"
    r'|\skey: \{"(?:type|version)":"?[0-2]"?,"data":\{"group":"(.{1,255}?)"'
)


def named_by_content(text: str) -> NamedFile | None:
    """Return the internal topic that a line of a record is of, None where its content does not tell."""
    for topic, pattern in ((TRANSACTION_STATE, _STATE), (CONSUMER_OFFSETS, _OFFSET)):
        if found := pattern.search(text):
            name = next(filter(None, found.groups()), "")
            return NamedFile(topic, partition_for(name, PARTITIONS))
    return None
