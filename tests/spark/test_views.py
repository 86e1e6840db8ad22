"""The views that are shipped: what they say of recorded cases is what was done there, in DuckDB and in Spark.

Expected values come of the cases themselves: what their consumers saw, what was done (`case.json`), and the bytes of
segments as the declarations read them, put together here without a line of the product.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb
import pytest

import kafkatx
from kafkatx.tables.catalogue import TABLES
from kafkatx.tables.view_files import all_views, once_sql, views
from kafkatx.terms.errors import UsageError
from tests import declared
from tests.cases.cutting import image
from tests.days import Days
from tests.evidence import ROOT, expectations, fixtures
from tests.exports import run_all_tables

CASES = ("k39-timeout", "k39-eos-groups", "k39-hanging")
TIMEOUT, GROUPS, HANGING = (fixtures() / name for name in CASES)
CLUSTER = {
    case: next(
        line.removeprefix("cluster.id=")
        for line in (case / "broker-1" / "meta.properties").read_text().splitlines()
        if line.startswith("cluster.id=")
    )
    for case in (TIMEOUT, GROUPS, HANGING)
}
ABORTED, COMMITTED = 0, 1
ANALYSES = {name for name, view in all_views().items() if not view.is_once}


@pytest.fixture(scope="module")
def export(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs: of all cases, and once more of one of them, a copy beside it."""
    folder = tmp_path_factory.mktemp("views")
    target = run_all_tables([TIMEOUT, GROUPS, HANGING], folder / "tables")
    return run_all_tables([TIMEOUT], target)


Ask = Callable[[str], list[dict[str, Any]]]


@pytest.fixture(scope="module")
def in_duckdb(export: Path) -> Iterator[Ask]:
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        for statement in views(export):
            connection.execute(statement)
        yield lambda sql: connection.sql(sql).to_arrow_table().to_pylist()


@pytest.fixture(scope="module")
def in_spark(export: Path, spark: Any) -> Ask:
    session = spark.newSession()
    for statement in kafkatx.views(export, "spark"):
        session.sql(statement)
    return lambda sql: session.sql(sql).toArrow().to_pylist()


@pytest.fixture(params=["duckdb", "spark"])
def ask(request: pytest.FixtureRequest, export: Path) -> Ask:
    if request.param == "duckdb":
        found: Ask = request.getfixturevalue("in_duckdb")
        return found
    ask: Ask = request.getfixturevalue("in_spark")
    return ask


def logs(case: Path) -> Iterator[tuple[str, int, list[declared.Batch]]]:
    """Topic, partition and batches of the logs of a case with one broker."""
    for path in sorted((case / "broker-1").glob("*/*.log")):
        topic, _, partition = path.parent.name.rpartition("-")
        yield topic, int(partition), list(declared.batches(path.read_bytes()))


def states(case: Path) -> list[declared.State]:
    """The coordinator's rows of a case, in order of their offsets within each partition."""
    paths = sorted((case / "broker-1").glob("__transaction_state-*/*.log"))
    return [row for path in paths for row in declared.transaction_states(path.read_bytes())]


def is_control(batch: declared.Batch) -> bool:
    return bool(batch.attributes & 0x20)


def is_transactional(batch: declared.Batch) -> bool:
    return bool(batch.attributes & 0x10)


def ending(batch: declared.Batch, log: list[declared.Batch]) -> int | None:
    """Kind of the first marker of the batch's producer that lies behind it."""
    behind = (one for one in log if one.producer_id == batch.producer_id and one.base_offset > batch.last_offset)
    return next((one.control_type for one in behind if is_control(one)), None)


def ended(case: Path, name: str) -> list[tuple[int, int, bool]]:
    """Start, decision and whether it was an abort, of each transaction that rows of the coordinator show decided."""
    rows = [row for row in states(case) if row.transactional_id == name and not row.is_tombstone]
    return [(row.started_at or 0, row.updated_at or 0, row.state == 3) for row in rows if row.state in (2, 3)]


def seen(case: Path) -> dict[str, set[int]]:
    """Offsets that read_committed consumers of the case were given, by partition, as its diary has them."""
    found: dict[str, set[int]] = {}
    for entry in expectations(case)["did"]:
        words = entry["what"].split()
        if words[0] == "read_committed" and "seen" in words:
            ranges = words[words.index("seen") + 1].strip("[]").split(",")
            bounds = [part.split("-") for part in ranges if part]
            found[words[1].rstrip(":")] = {n for part in bounds for n in range(int(part[0]), int(part[-1]) + 1)}
    return found


def test_a_read_committed_consumer_was_given_what_is_not_hidden(ask: Ask) -> None:
    rows = {f"{row['topic']}-{row['partition']}": row for row in ask(_of("hidden_records", TIMEOUT))}
    told = seen(TIMEOUT)
    assert told
    for partition, offsets in told.items():
        assert rows[partition]["committed"] == len(offsets), partition
    hidden = {name: (row["aborted"], row["without_marker"]) for name, row in rows.items()}
    assert (hidden["payments-0"], hidden["payments-1"]) == (
        (3, 0),
        (2, 0),
    )  # so says its diary


@pytest.mark.parametrize("case", [TIMEOUT, GROUPS, HANGING], ids=CASES)
def test_hidden_records_are_those_that_no_commit_marker_follows(case: Path, ask: Ask) -> None:
    expected: dict[tuple[str, int], Counter[int | None]] = {}
    for topic, partition, log in logs(case):
        for batch in log:
            if is_transactional(batch) and not is_control(batch):
                found = expected.setdefault((topic, partition), Counter())
                found[ending(batch, log)] += batch.record_count
    rows = {(row["topic"], row["partition"]): row for row in ask(_of("hidden_records", case))}
    assert rows.keys() == expected.keys()
    for place, counts in expected.items():
        row = rows[place]
        told = (row["committed"], row["aborted"], row["without_marker"])
        assert told == (counts[COMMITTED], counts[ABORTED], counts[None]), place


@pytest.mark.parametrize("case", [TIMEOUT, GROUPS], ids=CASES[:2])
def test_share_of_markers(case: Path, ask: Ask) -> None:
    rows = {(row["topic"], row["partition"]): row for row in ask(_of("markers_share", case))}
    expected = {}
    for topic, partition, log in logs(case):
        if any(map(is_transactional, log)):
            markers = sum(one.record_count for one in log if is_control(one))
            expected[topic, partition] = (sum(one.record_count for one in log), markers)
    assert {place: (row["records"], row["markers"]) for place, row in rows.items()} == expected
    for row in rows.values():
        assert float(row["markers_percent"]) == pytest.approx(100 * row["markers"] / row["records"])


@pytest.mark.parametrize("case", [TIMEOUT, GROUPS], ids=CASES[:2])
def test_share_of_aborts(case: Path, ask: Ask) -> None:
    rows = {row["transactional_id"]: row for row in ask(_of("abort_share", case))}
    for name in {row.transactional_id for row in states(case)}:
        decided = ended(case, name)
        if decided:
            told = (rows[name]["decided"], rows[name]["aborted"])
            assert told == (len(decided), sum(is_abort for *_, is_abort in decided)), name
    assert all(row["started_hour"] == row["started_hour"].replace(minute=0, second=0) for row in rows.values())


def test_who_aborted_is_counted(ask: Ask) -> None:
    """payments-eu-1 was frozen over its timeout of 5 s, and the coordinator ended its transaction (case.json)."""
    (row,) = [row for row in ask(_of("abort_share", TIMEOUT)) if row["transactional_id"] == "payments-eu-1"]
    assert (row["aborted"], row["ended_by_timeout"], row["ended_by_new_instance"]) == (1, 1, 0)


def test_ids_near_their_timeout(ask: Ask) -> None:
    """Its timeout is 5 s; the transaction lasted from its start to the coordinator's decision."""
    rows = {row["transactional_id"]: row for row in ask(_of("near_timeout", TIMEOUT))}
    longest = max(decided - started for started, decided, _ in ended(TIMEOUT, "payments-eu-1"))
    row = rows["payments-eu-1"]
    assert (row["timeout_ms"], row["longest_ms"], row["above_80_percent"]) == (5000, longest, 1)
    assert float(row["longest_percent"]) == pytest.approx(longest / 50)
    assert longest > 5000
    assert rows["orders-sink-0"]["above_80_percent"] == 0


def test_durations_by_topic(ask: Ask) -> None:
    lasted: dict[str, list[int]] = {}
    for name in {row.transactional_id for row in states(TIMEOUT)}:
        rows = [row for row in states(TIMEOUT) if row.transactional_id == name and row.state in (2, 3, 4, 5)]
        for prepare, complete in zip(rows[::2], rows[1::2], strict=True):
            for topic in {topic for topic, _ in prepare.partitions or ()}:
                lasted.setdefault(topic, []).append(complete.timestamp - (prepare.started_at or 0))
    found = {row["topic"]: row for row in ask(_of("duration_by_topic", TIMEOUT))}
    assert found.keys() == lasted.keys()
    for topic, times in lasted.items():
        row, place = found[topic], 0.99 * (len(times) - 1)
        below, above = sorted(times)[int(place)], sorted(times)[min(int(place) + 1, len(times) - 1)]
        assert (row["transactions"], row["longest_ms"]) == (len(times), max(times))
        assert float(row["p99_ms"]) == pytest.approx(below + (above - below) * (place - int(place)))


def test_epochs_that_are_used_up(ask: Ask) -> None:
    expected: dict[str, set[tuple[int, int]]] = {}
    for row in states(TIMEOUT):
        if not row.is_tombstone:
            expected.setdefault(row.transactional_id, set()).add((row.producer_id or 0, row.producer_epoch or 0))
    found = {row["transactional_id"]: row for row in ask(_of("epoch_churn", TIMEOUT))}
    assert {name: row["epochs"] for name, row in found.items()} == {name: len(one) for name, one in expected.items()}
    assert {name: row["highest_epoch"] for name, row in found.items()} == {
        name: max(epoch for _, epoch in one) for name, one in expected.items()
    }


def test_last_stable_offset_over_time(ask: Ask) -> None:
    """What hangs in the case holds the LSO to the end, and nobody's id is on it; the frozen one held it for 5 s."""
    still = [row for row in ask(_of("lso_over_time", HANGING)) if row["still"]]
    expected = set()
    for topic, partition, log in logs(HANGING):
        data = [one for one in log if is_transactional(one) and not is_control(one) and ending(one, log) is None]
        if data:
            expected.add((topic, partition, min(one.base_offset for one in data)))
    assert {(row["topic"], row["partition"], row["last_stable_offset"]) for row in still} == expected != set()
    held = [row for row in ask(_of("lso_over_time", TIMEOUT)) if row["transactional_id"] == "payments-eu-1"]
    longest = max(held, key=lambda row: row["held_ms"])
    (log,) = [
        log for topic, partition, log in logs(TIMEOUT) if (topic, partition) == ("payments", longest["partition"])
    ]
    marker = next(one for one in log if one.control_type == ABORTED)
    assert longest["held_to"].timestamp() * 1000 == pytest.approx(marker.max_timestamp)
    assert 5_000 < longest["held_ms"] < 10_000
    assert not longest["still"]


def test_blocks_of_producer_ids(ask: Ask) -> None:
    """A new cluster of one broker gives its coordinator the first block of 1,000."""
    for case in (TIMEOUT, GROUPS):
        (row,) = ask(_of("producer_id_blocks", case))
        assert (row["node_id"], row["first_id"], row["last_id"]) == (1, 0, 999)
        assert row["ids_named"] == len({one.producer_id for one in states(case) if not one.is_tombstone})


def test_lag_of_commits_in_transactions(ask: Ask) -> None:
    """Groups commit in transactions; what lay behind each offset is counted in the log of its partition."""
    rows = ask(_of("transactional_commit_lag", GROUPS))
    log = {(topic, partition): batches for topic, partition, batches in logs(GROUPS)}
    assert {row["group_id"] for row in rows} == {"orders-enricher", "settlement"}
    for row in rows:
        at = row["committed_at"].timestamp() * 1000
        there = [one.last_offset for one in log[row["topic"], row["partition"]] if (one.max_timestamp or 0) <= at + 0.5]
        assert row["lag"] == max(there) + 1 - row["committed_offset"]
    kinds = Counter(
        batch.control_type
        for topic, _, batches in logs(GROUPS)
        if topic == "__consumer_offsets"
        for batch in batches
        if is_control(batch)
    )
    assert {row["ended_as"] for row in rows} - {None} == {"COMMIT" if kind else "ABORT" for kind in kinds}


def test_events_beside_aborts(ask: Ask) -> None:
    """The coordinator's own line about the rollback, and the client's exceptions, stand beside the abort."""
    rows = [row for row in ask(_of("events_beside_aborts", TIMEOUT)) if row["transactional_id"] == "payments-eu-1"]
    ((_, decided, _),) = [one for one in ended(TIMEOUT, "payments-eu-1") if one[2]]
    assert {round(row["decided_at"].timestamp() * 1000) for row in rows} == {decided}
    assert any(
        "Completed rollback of ongoing transaction for transactionalId payments-eu-1" in row["text"] for row in rows
    )
    assert all(abs(row["after_ms"]) <= 10_000 for row in rows)
    assert {row["ended_by"] for row in rows} == {"timeout"}


def test_findings_by_team(ask: Ask) -> None:
    """Rules that a case must fire (case.json), counted for the team that its ids begin with."""
    rows = {(row["team"], row["rule"]): row for row in ask("SELECT * FROM findings_by_team")}
    assert rows["payments", "transaction_timed_out"]["findings"] == 1
    assert rows["payments", "transaction_timed_out"]["ids"] == 1
    assert ("payments", "fenced_by_new_instance") not in rows
    assert rows["settlement", "open_transaction"]["findings"] == 1


def test_month_over_month(ask: Ask) -> None:
    rows = {row["capture"]: row for row in ask("SELECT * FROM month_over_month")}
    for case in (TIMEOUT, GROUPS):
        names = {row.transactional_id for row in states(case)}
        decided = [one for name in names for one in ended(case, name)]
        row = rows[CLUSTER[case]]
        assert (row["transactions"], row["aborted"]) == (len(decided), sum(one[2] for one in decided))
        assert float(row["mean_ms"]) == pytest.approx(sum(end - begin for begin, end, _ in decided) / len(decided))
        assert row["started_month"] == datetime(2026, 11, 1, tzinfo=UTC)
        assert (row["more_transactions"], row["more_percent"]) == (None, None)


def test_a_second_run_of_one_case_counts_nothing_twice(ask: Ask) -> None:
    (counted,) = ask("SELECT count(*) AS n, count(DISTINCT run_id) AS runs FROM batches WHERE is_canonical")
    (once,) = ask("SELECT count(*) AS n FROM batches_once")
    total = sum(len(log) for case in (TIMEOUT, GROUPS, HANGING) for _, _, log in logs(case))
    assert (counted["runs"], once["n"]) == (2, total)
    assert counted["n"] == total + sum(len(log) for _, _, log in logs(TIMEOUT))


def _of(view: str, case: Path) -> str:
    return f"SELECT * FROM {view} WHERE capture = '{CLUSTER[case]}'"


def test_every_view_says_what_it_answers_and_asks_what_is_there() -> None:
    assert {"abort_share", "duration_by_topic", "near_timeout", "epoch_churn", "markers_share", "lso_over_time",
            "hidden_records", "producer_id_blocks", "transactional_commit_lag", "events_beside_aborts",
            "findings_by_team", "month_over_month"} <= ANALYSES  # fmt: skip
    for name, view in all_views().items():
        assert view.answers.endswith((".", "?")) or "?" in view.answers, name
        assert view.asks
    assert {f"{name}_once" for name in TABLES} <= all_views().keys()


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_views_of_facts_follow_from_what_a_fact_is(table: Any) -> None:
    """Written by `python -c` over `once_sql`, never by hand."""
    path = ROOT / "kafkatx/tables/views" / f"{table.name}_once.sql"
    assert path.read_text() == once_sql(table)


def test_tables_that_are_not_there_leave_out_what_asks_them(tmp_path: Path) -> None:
    (tmp_path / "batches").mkdir()
    told = " ".join(views(tmp_path, "spark"))
    assert "VIEW batches USING" in told
    assert "VIEW markers_share AS" in told
    assert "transactions" not in told
    with pytest.raises(UsageError, match="no views for 'trino': the engines are duckdb and spark"):
        list(views(tmp_path, "trino"))


def test_days_of_exports_count_like_the_whole(tmp_path: Path) -> None:
    """Rows of five days, three of retention: what views count is what the whole holds."""
    days = Days(image("k39-timeout"), 5)
    for day in range(5):
        run_all_tables(days.write(day, tmp_path / "data", 3), tmp_path / "tables")
    days.write(4, tmp_path / "data")
    run_all_tables(tmp_path / "data", tmp_path / "whole")
    counts = []
    for name in ("tables", "whole"):
        with duckdb.connect() as connection:
            for statement in views(tmp_path / name):
                connection.execute(statement)
            tables = ("batches", "records", "markers", "transaction_states", "transactions", "aborted_transactions")
            asked = [f"SELECT '{name}' AS name, count(*) AS n FROM {name}_once" for name in tables]
            asked += [
                "SELECT 'aborted', sum(aborted) FROM hidden_records",
                "SELECT 'held', count(*) FROM lso_over_time",
            ]
            counts.append(connection.sql(" UNION ALL ".join(asked)).to_arrow_table().to_pylist())
    assert counts[0] == counts[1]
    assert all(row["n"] for row in counts[0])
