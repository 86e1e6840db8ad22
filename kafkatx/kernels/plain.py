"""One look at each transaction and span: which are like all others of theirs, and which stand at a turn.

What is plain, and what is asked for of it, histories/plain_rows.py and plain_data.py say.
"""

from typing import Any

import numpy as np

from kafkatx.kernels.engine import kernel_inlined, kernel_lean
from kafkatx.kernels.spans import COMMIT, producer_slot
from kafkatx.kernels.transactions import ONGOING, PREPARE_COMMIT

OF_ID = np.dtype(
    [
        ("last", "i8"),
        ("slow", "i8"),
        ("known", "i8"),
        ("shortest_ms", "i8"),
        ("shortest", "i8"),
        ("longest_ms", "i8"),
        ("longest", "i8"),
    ]
)
"""What is known of a transactional.id: its last row (-1: none); how many of its transactions waited for their markers,
and of how many that is known; the rows of its shortest and longest plain ones (-1: none)."""
OF_PRODUCER = np.dtype([("producer_id", "i8"), ("last", "i8")])
"""A producer id, and the last span of it that a marker ended."""
OF_LEADER = np.dtype([("leader_epoch", "i8"), ("first", "i8"), ("last", "i8"), ("oldest", "i8"), ("newest", "i8")])
"""A leader, and of the markers that it wrote one behind the other the spans of those that are first and last, by their
offsets and by their times (-1: none has one)."""
OF_GROUP = np.dtype([("producer_id", "i8"), ("transactions", "i8"), ("id_code", "i4"), ("partitions_code", "i4")])
"""How many transactions of an id, a producer id and a list of partitions are counted."""
COMPARED = np.dtype(
    [
        ("beside", "i8"),
        ("marker_offset", "i8"),
        ("begin_offset", "i8"),
        ("decision_offset", "i8"),
        ("started_at", "i8"),
        ("transaction", "i4"),
        ("state_partition", "i4"),
        ("coordinator_epoch", "i4"),
        ("leader_epoch", "i4"),
    ]
)
"""What a plain participation is compared by with others: how far its marker lies before its decision (below 0) or
behind its completion, where marker, start and decision lie, and who led their logs."""
DONE, PRODUCERS_FULL, GROUPS_FULL, LEADERS_FULL = 0, 1, 2, 3
"""Why a kernel stopped."""
MARKED = 0
"""Status of a participation whose marker is known (histories/transaction_partitions.py)."""


def of_ids(count: int) -> np.ndarray[Any, Any]:
    """Return a table of so many ids of which nothing is known."""
    table = np.zeros(count, OF_ID)
    table["last"] = table["shortest"] = table["longest"] = -1
    return table


@kernel_inlined
def is_plain_row(t: Any, row: int, slow_ms: int) -> bool:
    """Whether a transaction was committed in time, complete at once, and followed by the next of the same producer."""
    if t["decision"][row] != PREPARE_COMMIT or t["next_state"][row] != ONGOING or t["flags"][row] != 0:
        return False
    if t["begin_offset"][row] < 0 or t["completion_offset"][row] < 0 or t["started_at"][row] < 0:
        return False
    if t["producer_epoch"][row] < 0 or t["partitions_code"][row] < 0 or t["timeout_ms"][row] < 0:
        return False
    if t["producer_id"][row] != t["completed_producer_id"][row] or t["producer_id"][row] != t["next_producer_id"][row]:
        return False
    if t["decision_epoch"][row] != t["completion_epoch"][row] or t["completion_epoch"][row] != t["next_epoch"][row]:
        return False
    if t["timeout_ms"][row] != t["next_timeout_ms"][row]:
        return False
    if t["begin_leader_epoch"][row] != t["decision_leader_epoch"][row]:
        return False
    begun, decided, completed = t["begin_timestamp"][row], t["decision_timestamp"][row], t["completion_timestamp"][row]
    if begun < 0 or begun > decided or decided > completed or completed > t["next_timestamp"][row]:
        return False
    step = int(t["decision_epoch"][row]) - t["producer_epoch"][row]
    took = t["decided_at"][row] - t["started_at"][row]
    return bool(0 <= step <= 1 and 0 <= took <= t["timeout_ms"][row] and completed - decided <= slow_ms)


@kernel_inlined
def turns_at_row(t: Any, before: int, after: int) -> bool:
    """Whether something changes from one transaction of an id to the next."""
    if t["next_offset"][before] != t["begin_offset"][after] or t["producer_id"][before] != t["producer_id"][after]:
        return True
    if t["begin_version"][before] != t["begin_version"][after]:
        return True
    if (
        t["decision_version"][before] != t["decision_version"][after]
        or t["timeout_ms"][before] != t["timeout_ms"][after]
    ):
        return True
    if t["decision_leader_epoch"][before] != t["decision_leader_epoch"][after]:
        return True
    if t["started_at"][before] > t["started_at"][after] or t["decided_at"][before] > t["decided_at"][after]:
        return True
    if t["begin_timestamp"][before] > t["begin_timestamp"][after]:
        return True
    if t["decision_timestamp"][before] > t["decision_timestamp"][after]:
        return True
    if t["completion_timestamp"][before] > t["completion_timestamp"][after]:
        return True
    if t["next_timestamp"][before] > t["next_timestamp"][after]:
        return True
    step = int(t["decision_epoch"][before]) - t["producer_epoch"][before]
    return bool(step != int(t["decision_epoch"][after]) - t["producer_epoch"][after])


@kernel_lean
def look_at_rows(t: Any, ids: Any, slow_ms: int, held: Any) -> int:
    """Mark in `held` the transactions that are not plain, and those that are held for what they are among their id's.

    `t` are the rows of a state partition (those of an id oldest first), `ids` a table OF_ID by id_code. Returns how
    many are plain.
    """
    count = 0
    for row in range(len(t)):
        who = t["id_code"][row]
        plain = is_plain_row(t, row, slow_ms)
        before = ids["last"][who]
        if before < 0:
            held[row] = True
        elif turns_at_row(t, before, row):
            held[before] = held[row] = True
        elif not plain:
            held[before] = True
        ids["last"][who] = row
        decided, completed = t["decision_timestamp"][row], t["completion_timestamp"][row]
        if 0 <= decided <= completed:
            ids["known"][who] += 1
            ids["slow"][who] += completed - decided > slow_ms
        if not plain:
            held[row] = True
            continue
        count += 1
        took = t["decided_at"][row] - t["started_at"][row]
        if ids["shortest"][who] < 0 or took < ids["shortest_ms"][who]:
            ids["shortest"][who], ids["shortest_ms"][who] = row, took
        if ids["longest"][who] < 0 or took >= ids["longest_ms"][who]:
            ids["longest"][who], ids["longest_ms"][who] = row, took
    return count


@kernel_inlined
def slot_of_group(t: Any, row: int, slots: Any, groups: Any) -> int:
    """Slot of a transaction's group in a table of open addressing: the one that holds it, or the free one."""
    mask, producer_id = len(slots) - 1, t["producer_id"][row]
    who, listed = int(t["id_code"][row]), int(t["partitions_code"][row])
    slot = ((producer_id & 0xFFFFFFFF) * 40503 + who * 7919 + listed * 104729) & mask
    while slots[slot] >= 0:
        at = slots[slot]
        alike = groups["producer_id"][at] == producer_id and groups["id_code"][at] == who
        if alike and groups["partitions_code"][at] == listed:
            break
        slot = (slot + 1) & mask
    return int(slot)


@kernel_lean
def place_groups_of_rows(slots: Any, groups: Any, count: int) -> None:
    """Fill an empty table of slots."""
    for group in range(count):
        slots[slot_of_group(groups, group, slots, groups)] = group


@kernel_lean
def count_groups(t: Any, held: Any, first: int, slots: Any, groups: Any, count: int) -> tuple[int, int, int]:
    """Count the transactions from t[first] on that are not held, by groups (OF_GROUP).

    Returns (why it stopped, transaction to go on with, groups): the caller makes room for groups and calls again.
    """
    for row in range(first, len(t)):
        if held[row]:
            continue
        slot = slot_of_group(t, row, slots, groups)
        group = slots[slot]
        if group < 0:
            if count == len(groups) or 2 * (count + 1) > len(slots):
                return GROUPS_FULL, row, count
            group = count
            slots[slot] = group
            groups["producer_id"][group] = t["producer_id"][row]
            groups["id_code"][group], groups["partitions_code"][group] = t["id_code"][row], t["partitions_code"][row]
            groups["transactions"][group] = 0
            count += 1
        groups["transactions"][group] += 1
    return DONE, len(t), count


@kernel_inlined
def is_plain_part(rows: Any, number: int, transactions: Any, spans: Any, tolerance_ms: int) -> bool:
    """Whether the own COMMIT of a transaction ended its data here, as its row says in every respect."""
    span, row = rows["span"][number], rows["transaction"][number]
    if rows["status"][number] != MARKED or span < 0 or span != rows["marker"][number]:
        return False
    if spans["flags"][span] != 0 or spans["marker_kind"][span] != COMMIT or spans["first_offset"][span] < 0:
        return False
    if spans["producer_id"][span] != transactions["producer_id"][row]:
        return False
    if spans["producer_epoch"][span] != transactions["producer_epoch"][row]:
        return False
    if spans["marker_epoch"][span] != transactions["decision_epoch"][row]:
        return False
    if spans["coordinator_epoch"][span] != transactions["decision_leader_epoch"][row]:
        return False
    if transactions["decided_at"][row] < 0 or transactions["completion_timestamp"][row] < 0:
        return False
    sent = spans["first_timestamp"][span]
    is_timed = spans["marker_timestamp"][span] >= 0 and sent >= 0
    return bool(is_timed and sent >= transactions["started_at"][row] - tolerance_ms)


@kernel_lean
def look_at_parts(
    rows: Any, transactions: Any, spans: Any, tolerance_ms: int, plain: Any, late: Any, compared: Any
) -> int:
    """Mark the participations that are plain, and of these whose data came late; returns how many are plain.

    `compared` (COMPARED) gets a row for each of them.
    """
    count = 0
    for number in range(len(rows)):
        if is_plain_part(rows, number, transactions, spans, tolerance_ms):
            plain[number] = True
            row, span = rows["transaction"][number], rows["span"][number]
            late[number] = spans["first_timestamp"][span] > transactions["started_at"][row] + tolerance_ms
            written = spans["marker_timestamp"][span]
            behind, before = (
                written - transactions["completion_timestamp"][row],
                written - transactions["decided_at"][row],
            )
            compared["beside"][count] = max(behind, 0) + min(before, 0)
            compared["marker_offset"][count] = spans["marker_offset"][span]
            compared["begin_offset"][count] = transactions["begin_offset"][row]
            compared["decision_offset"][count] = transactions["decision_offset"][row]
            compared["started_at"][count] = transactions["started_at"][row]
            compared["transaction"][count] = row
            compared["state_partition"][count] = transactions["state_partition"][row]
            compared["coordinator_epoch"][count] = transactions["decision_leader_epoch"][row]
            compared["leader_epoch"][count] = spans["leader_epoch"][span]
            count += 1
    return count


@kernel_inlined
def is_plain_alone(spans: Any, row: int) -> bool:
    """Whether a COMMIT ended data, and nothing about them is told."""
    if spans["flags"][row] != 0 or spans["marker_kind"][row] != COMMIT or spans["first_offset"][row] < 0:
        return False
    if spans["marker_timestamp"][row] < 0 or spans["coordinator_epoch"][row] < 0 or spans["producer_epoch"][row] < 0:
        return False
    if spans["first_timestamp"][row] < 0 or spans["last_timestamp"][row] < 0:
        return False
    step = int(spans["marker_epoch"][row]) - spans["producer_epoch"][row]
    return bool(0 <= step <= 1)


@kernel_inlined
def turns_at_span(spans: Any, before: int, after: int) -> bool:
    """Whether something changes from one ended span of a producer to the next."""
    if spans["leader_epoch"][before] != spans["leader_epoch"][after]:
        return True
    if spans["coordinator_epoch"][before] != spans["coordinator_epoch"][after]:
        return True
    if spans["producer_epoch"][before] > spans["producer_epoch"][after]:
        return True
    if spans["marker_epoch"][before] > spans["marker_epoch"][after]:
        return True
    if spans["marker_timestamp"][before] > spans["marker_timestamp"][after]:
        return True
    if spans["last_timestamp"][before] > spans["last_timestamp"][after]:
        return True
    step = int(spans["marker_epoch"][before]) - spans["producer_epoch"][before]
    return bool(step != int(spans["marker_epoch"][after]) - spans["producer_epoch"][after])


@kernel_inlined
def note_leader(spans: Any, row: int, leaders: Any, at: int) -> None:
    """Note what a marker is among those of its leader: of alike ones the first is the least, the last the greatest."""
    offsets, times = spans["marker_offset"], spans["marker_timestamp"]
    if leaders["first"][at] < 0 or offsets[row] < offsets[leaders["first"][at]]:
        leaders["first"][at] = row
    if leaders["last"][at] < 0 or offsets[row] >= offsets[leaders["last"][at]]:
        leaders["last"][at] = row
    if times[row] < 0:
        return
    if leaders["oldest"][at] < 0 or times[row] < times[leaders["oldest"][at]]:
        leaders["oldest"][at] = row
    if leaders["newest"][at] < 0 or times[row] >= times[leaders["newest"][at]]:
        leaders["newest"][at] = row


@kernel_lean
def look_at_spans(
    spans: Any, owner: Any, first: int, slots: Any, producers: Any, leaders: Any, counts: Any, asked: Any, alone: Any
) -> tuple[int, int]:
    """Mark the spans of a partition that are asked for as the last of their producer or at a turn; and plain ones.

    `alone` gets those that no row owns and that are plain. Spans come in the order of their markers, open ones last.
    `counts` holds how many `producers` (OF_PRODUCER) and `leaders` (OF_LEADER, one for each run of its markers) there
    are. Returns (why it stopped, span to go on with): the caller makes room and calls again, and marks those named by
    both in the end.
    """
    for row in range(first, len(spans)):
        if owner[row] == -1:
            alone[row] = is_plain_alone(spans, row)
        if spans["marker_offset"][row] < 0:
            continue
        at = counts[1] - 1
        if at < 0 or leaders["leader_epoch"][at] != spans["leader_epoch"][row]:
            at += 1
            if at == len(leaders):
                return LEADERS_FULL, row
        slot = producer_slot(spans["producer_id"][row], slots, producers)
        if slots[slot] < 0:
            if counts[0] == len(producers) or 2 * (counts[0] + 1) > len(slots):
                return PRODUCERS_FULL, row
            slots[slot] = counts[0]
            producers["producer_id"][counts[0]] = spans["producer_id"][row]
            producers["last"][counts[0]] = -1
            counts[0] += 1
        if at == counts[1]:
            leaders["leader_epoch"][at] = spans["leader_epoch"][row]
            leaders["first"][at] = leaders["last"][at] = leaders["oldest"][at] = leaders["newest"][at] = -1
            counts[1] += 1
        note_leader(spans, row, leaders, at)
        before = producers["last"][slots[slot]]
        if before >= 0 and ((owner[before] < 0) != (owner[row] < 0) or turns_at_span(spans, before, row)):
            asked[before] = asked[row] = True
        producers["last"][slots[slot]] = row
    return DONE, len(spans)
