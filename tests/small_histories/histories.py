"""Small histories, and what a committer concludes from the rows, from the data, and from both."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from tests.small_histories.tale import CLASSIC_TIME, LATE_TIME, Log, Owner

A, B = ("ledger", 2), ("audit", 0)
MINUTE, HOUR, DAY = 60_000, 3_600_000, 86_400_000
ROWS, DATA, BOTH = "rows", "data", "both"
VIEWS = (ROWS, DATA, BOTH)
BLOCKED = ("read_committed_blocked", "committed_but_unreadable")
"""What an open transaction does to readers, and to what others committed behind it."""


@dataclass(frozen=True, slots=True)
class Conclusion:
    """The rule that a text carries, and whether it carries it at likely; no rule: nothing is wrong.

    `also` are rules that may be claimed as well.
    """

    rule: str | None
    is_sure: bool = True
    also: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class History:
    """What lies on disk, and what is to be concluded of each view of it that is worth showing."""

    name: str
    log: Log
    concludes: dict[str, Conclusion] = field(default_factory=dict)


HEALTHY = Conclusion(None)
Tale = Callable[[Log, bool], dict[str, Conclusion]]


def _all(rule: str, *also: str) -> dict[str, Conclusion]:
    return dict.fromkeys(VIEWS, Conclusion(rule, True, frozenset(also)))


def _rows(rule: str, *also: str, data: Conclusion | None = None) -> dict[str, Conclusion]:
    found = Conclusion(rule, True, frozenset(also))
    return {ROWS: found, BOTH: found} | ({DATA: data} if data else {})


def commits(log: Log, v2: bool) -> dict[str, Conclusion]:
    Owner(log, is_v2=v2).init().commits(A, B, times=3)
    return dict.fromkeys(VIEWS, HEALTHY)


def restarts(log: Log, v2: bool) -> dict[str, Conclusion]:
    owner = Owner(log, is_v2=v2).init().commits(A, times=2)
    log.wait(5 * MINUTE)
    owner.init().commits(A, times=2)
    return dict.fromkeys(VIEWS, HEALTHY)


def aborted_once(log: Log, v2: bool) -> dict[str, Conclusion]:
    owner = Owner(log, is_v2=v2).commits(A).begin(A).write()
    log.wait(2_500)
    owner.end("Abort").log.wait(5_000)
    owner.commits(A)
    data = Conclusion("aborted_by_client", True) if not v2 else None
    return _rows("aborted_by_client", data=data)


def aborted_alone(log: Log, v2: bool) -> dict[str, Conclusion]:
    owner = Owner(log).begin(A).write()
    log.wait(1_800)
    owner.end("Abort")
    return _rows("aborted_by_client", data=Conclusion("aborted_by_client", log.now < LATE_TIME))


def own_bump(log: Log, v2: bool) -> dict[str, Conclusion]:
    owner = Owner(log, timeout=5 * MINUTE).commits(A).begin(A).write()
    log.wait(121_000)
    owner.end("Abort").log.wait(105)
    owner.init().commits(A)
    return _rows("aborted_by_client", data=Conclusion("aborted_by_client", False))


def times_out(timeout: int) -> Tale:
    def told(log: Log, v2: bool) -> dict[str, Conclusion]:
        owner = Owner(log, timeout=timeout, is_v2=v2).commits(A)
        owner.begin(A).write()
        log.wait(timeout + 4_300)
        owner.end("Abort", raised=True)
        data = Conclusion("transaction_timed_out", timeout == MINUTE) if not v2 else None
        return _rows("transaction_timed_out", data=data)

    return told


def times_out_alone(log: Log, v2: bool) -> dict[str, Conclusion]:
    owner = Owner(log, is_v2=v2).begin(A).write()
    log.wait(66_400)
    owner.end("Abort", raised=True)
    data = Conclusion("transaction_timed_out", log.now < LATE_TIME)
    return _rows("transaction_timed_out", data=None if v2 else data)


def times_out_old_client_on_v2(log: Log, v2: bool) -> dict[str, Conclusion]:
    """The coordinator writes the version of its cluster into an abort of its own, whatever the client speaks."""
    owner = Owner(log).commits(A).begin(A).write()
    log.wait(67_000)
    owner.end("Abort", raised=True, version=2)
    return _rows("transaction_timed_out")


def times_out_then_restarts(log: Log, v2: bool) -> dict[str, Conclusion]:
    owner = Owner(log, is_v2=v2).commits(A).begin(A).write()
    log.wait(68_000)
    owner.end("Abort", raised=True).log.wait(7 * MINUTE)
    owner.init().commits(A)
    data = Conclusion("transaction_timed_out", True) if not v2 else None
    return _rows("transaction_timed_out", data=data)


def _takeover(owner: Owner, after: int = 2_100) -> Owner:
    owner.log.wait(after)
    owner.end("Abort", raised=True).log.wait(95)
    return owner.init()


def taken_over(log: Log, v2: bool) -> dict[str, Conclusion]:
    owner = _takeover(Owner(log, is_v2=v2).commits(A).begin(A).write())
    log.wait(300)
    owner.commits(A)
    data = Conclusion("fenced_by_new_instance", True) if not v2 else None
    return _rows("fenced_by_new_instance", data=data)


def taken_over_alone(log: Log, v2: bool) -> dict[str, Conclusion]:
    owner = _takeover(Owner(log, is_v2=v2).begin(A).write())
    log.wait(200)
    owner.begin(A).write()
    data = Conclusion("fenced_by_new_instance", log.now < LATE_TIME, frozenset({"open_transaction"}))
    return _rows("fenced_by_new_instance", "open_transaction", data=None if v2 else data)


def in_turns(log: Log, v2: bool) -> dict[str, Conclusion]:
    """Newcomers come sooner than a process could die and start again.

    Under transactions v2 an application that aborts by itself and makes its producer anew leaves the same rows, and of
    its time some tools print no version.
    """
    is_old = log.now < LATE_TIME
    owner = Owner(log, is_v2=v2).init()
    for _ in range(5):
        owner.log.wait(800)
        _takeover(owner.begin(A).write(), after=700)
    data = Conclusion("fenced_by_new_instance", True, frozenset({"shared_producer"})) if not v2 else None
    rows = Conclusion("shared_producer", is_old, frozenset({"fenced_by_new_instance"}))
    return {ROWS: rows, BOTH: rows} | ({DATA: data} if data else {})


def dies_again_and_again(log: Log, v2: bool) -> dict[str, Conclusion]:
    """A supervisor starts one process again, as steadily as two that live take the id from each other."""
    owner = Owner(log, is_v2=v2).init()
    for _ in range(5):
        owner.log.wait(800)
        _takeover(owner.begin(A).write())
    data = Conclusion("fenced_by_new_instance") if not v2 else None
    return _rows("fenced_by_new_instance", data=data)


def hangs(log: Log, v2: bool) -> dict[str, Conclusion]:
    """A record arrives behind the marker that ended its transaction (KIP-890), and nobody will end it."""
    owner = Owner(log, timeout=MINUTE).commits(A).begin(A).write()
    log.wait(900)
    owner.end("Abort").log.wait(40)
    owner.write(A, number=1).log.wait(20 * MINUTE)
    log.others(A).wait(8 * HOUR).others(A)
    other = Owner(log, id="other-3", producer=6000, epoch=2)
    other.commits(B)
    also = (*BLOCKED, "aborted_by_client")
    return {BOTH: Conclusion("hanging_transaction", True, frozenset(also)),
            DATA: Conclusion("hanging_transaction", False, frozenset((*also, "open_transaction")))}  # fmt: skip


def _stuck(kind: str) -> Tale:
    def told(log: Log, v2: bool) -> dict[str, Conclusion]:
        owner = Owner(log, is_v2=v2).commits(A, B)
        owner.begin(A, B).write()
        log.wait(700)
        owner.prepare(kind).mark(kind.upper(), A)
        log.wait(25 * MINUTE).others(A, B)
        Owner(log, id="other-3", producer=6000, epoch=2).commits(A)
        return _rows("stuck_prepare", *BLOCKED, "aborted_by_client")

    return told


def loses_a_marker(log: Log, v2: bool) -> dict[str, Conclusion]:
    owner = Owner(log, is_v2=v2).commits(A, B)
    owner.begin(A, B).write()
    log.wait(700)
    owner.prepare("Commit").complete("Commit", marked=(A,))
    log.wait(25 * MINUTE).others(A, B)
    Owner(log, id="other-3", producer=6000, epoch=2).commits(A)
    return {BOTH: Conclusion("atomicity_violation", True, frozenset({*BLOCKED, "hanging_transaction"}))}


def aborted_by_hand(log: Log, v2: bool) -> dict[str, Conclusion]:
    """An operator aborts one partition of an open transaction, which its owner commits afterwards."""
    owner = Owner(log, timeout=15 * MINUTE).commits(A, B)
    owner.begin(A, B).write()
    log.wait(4 * MINUTE)
    owner.coordinator = 0
    owner.mark("ABORT", A)
    owner.coordinator = 3
    log.wait(20_000)
    owner.prepare("Commit").complete("Commit")
    owner.log.wait(500)
    owner.commits(A, B)
    return {BOTH: Conclusion("atomicity_violation", True, frozenset({"aborted_by_client"}))}


def used_up(log: Log, v2: bool) -> dict[str, Conclusion]:
    owner = Owner(log, epoch=32766).commits(A, times=2)
    log.wait(9 * MINUTE)
    owner.producer, owner.epoch = 9000, -1
    owner.init().commits(A)
    return dict.fromkeys(VIEWS, Conclusion(None, also=frozenset({"producer_epoch_exhausted"})))


def expired(log: Log, v2: bool) -> dict[str, Conclusion]:
    owner = Owner(log, is_v2=v2).commits(A)
    log.wait(7 * DAY + 20 * MINUTE)
    owner.row(None).log.wait(2 * DAY)
    owner.producer, owner.epoch = 9000, -1
    owner.init().commits(A)
    return {ROWS: Conclusion("transactional_id_expired", True)}


def state_lost(log: Log, v2: bool) -> dict[str, Conclusion]:
    owner = Owner(log, is_v2=v2).commits(A)
    log.wait(2 * DAY)
    owner.producer, owner.epoch = 0, -1
    owner.init().commits(A)
    return {ROWS: Conclusion("producer_restarted_empty", True)}


def open_in_time(log: Log, v2: bool) -> dict[str, Conclusion]:
    owner = Owner(log, is_v2=v2, timeout=15 * MINUTE).commits(A)
    owner.begin(A).write()
    log.wait(4 * MINUTE)
    Owner(log, id="other-3", producer=6000, epoch=2).commits(A)
    return _rows("open_transaction", *BLOCKED)


def open_too_long(log: Log, v2: bool) -> dict[str, Conclusion]:
    owner = Owner(log, is_v2=v2).commits(A)
    owner.begin(A).write()
    log.wait(40 * MINUTE)
    Owner(log, id="other-3", producer=6000, epoch=2).commits(A)
    return _rows("open_transaction", *BLOCKED, "stuck_prepare")


def loses_records(log: Log, v2: bool) -> dict[str, Conclusion]:
    owner = Owner(log).commits(A)
    owner.begin(A).write(number=10)
    owner.sequences[A] += 10
    owner.write(number=10).end("Commit")
    return {DATA: Conclusion("sequence_gap", True)}


def repeats_records(log: Log, v2: bool) -> dict[str, Conclusion]:
    owner = Owner(log).commits(A)
    owner.begin(A).write(number=10)
    owner.sequences[A] -= 10
    owner.write(number=10).end("Commit")
    return {DATA: Conclusion("duplicate_sequence", True)}


def wraps(log: Log, v2: bool) -> dict[str, Conclusion]:
    owner = Owner(log)
    owner.sequences[A] = (1 << 31) - 6
    owner.commits(A, times=4)
    return {DATA: HEALTHY}


def former_coordinator(log: Log, v2: bool) -> dict[str, Conclusion]:
    owner = Owner(log, coordinator=5).commits(A)
    owner.coordinator = 3
    owner.commits(A)
    return {DATA: Conclusion("zombie_coordinator", True)}


def two_ids(log: Log, v2: bool) -> dict[str, Conclusion]:
    first, second = Owner(log), Owner(log, id="invoices-0", epoch=0)
    for _ in range(3):
        first.commits(A)
        second.commits(B)
    return {ROWS: Conclusion("producer_id_collision", True)}


def impossible(log: Log, v2: bool) -> dict[str, Conclusion]:
    owner = Owner(log).commits(A)
    log.wait(300)
    owner.prepare("Commit").log.wait(10)
    owner.row("CompleteCommit").log.wait(500)
    owner.commits(A)
    return {ROWS: Conclusion("inconsistent_transaction_state", True)}


CLASSIC: tuple[tuple[str, Tale], ...] = (
    ("own bump after an abort", own_bump),
    ("aborted alone", aborted_alone),
    ("hanging", hangs),
    ("aborted by hand", aborted_by_hand),
    ("epochs used up", used_up),
    ("records lost", loses_records),
    ("records twice", repeats_records),
    ("sequence wraps", wraps),
    ("former coordinator", former_coordinator),
    ("two ids, one producer id", two_ids),
    ("impossible", impossible),
)
ANY: tuple[tuple[str, Tale], ...] = (
    ("commits", commits),
    ("restarts", restarts),
    ("aborted once", aborted_once),
    ("timed out", times_out(MINUTE)),
    ("timed out, 15 min", times_out(15 * MINUTE)),
    ("timed out, 20 s", times_out(20_000)),
    ("timed out alone", times_out_alone),
    ("timed out, then restarted", times_out_then_restarts),
    ("taken over", taken_over),
    ("taken over alone", taken_over_alone),
    ("in turns", in_turns),
    ("dies again and again", dies_again_and_again),
    ("stuck commit", _stuck("Commit")),
    ("stuck abort", _stuck("Abort")),
    ("marker lost", loses_a_marker),
    ("expired", expired),
    ("state lost", state_lost),
    ("open in time", open_in_time),
    ("open too long", open_too_long),
)


def histories() -> Iterator[History]:
    """Yield all histories: classic in 2023 and in 2025, and by transactions v2."""
    for time, v2, protocol, tales in (
        (CLASSIC_TIME, False, "2023", CLASSIC + ANY),
        (LATE_TIME, False, "2025", CLASSIC + ANY),
        (LATE_TIME, True, "v2", ANY),
    ):
        for name, tale in tales:
            log = Log(now=time)
            concludes = tale(log, v2)
            yield History(f"{name} ({protocol})", log, concludes)
    log = Log(now=LATE_TIME)
    yield History("timed out, old client (v2)", log, times_out_old_client_on_v2(log, True))
