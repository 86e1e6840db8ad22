"""Two listings of one partition: what only read_uncommitted was given, and what that proves."""

from pathlib import Path

from kafkatx.local.diagnosis import diagnose

COMMAND = "$ kafka-console-consumer.sh --topic orders --partition 0 --property print.offset=true --isolation-level {}\n"
GIVEN = {"read_uncommitted": (0, 2, 3, 5, 24, 26), "read_committed": (24,)}


def page(folder: Path, levels: tuple[str, ...]) -> Path:
    path = folder / "listings.md"
    blocks = [
        COMMAND.format(level) + "".join(f"Partition:0\tOffset:{offset}\tvalue {offset}\n" for offset in GIVEN[level])
        for level in levels
    ]
    path.write_text("What the consumers print:\n\n" + "\n".join(blocks))
    return path


def told(path: Path) -> dict[str, str]:
    return {entry.rule: entry.scope for _, entry in diagnose([path]).not_checkable if "orders-0" in entry.scope}


def test_records_below_one_that_read_committed_was_given_were_aborted(tmp_path: Path) -> None:
    scopes = told(page(tmp_path, ("read_uncommitted", "read_committed")))
    assert scopes["aborted_by_client"].startswith("orders-0 @ 0, 2..3, 5: aborted")


def test_records_behind_the_last_one_given_were_aborted_or_wait(tmp_path: Path) -> None:
    scopes = told(page(tmp_path, ("read_committed", "read_uncommitted")))
    assert scopes["read_committed_blocked"].startswith("orders-0 @ 26: given to read_uncommitted alone")


def test_one_listing_alone_says_nothing_of_aborts(tmp_path: Path) -> None:
    for level in GIVEN:
        assert told(page(tmp_path, (level,))) == {}
