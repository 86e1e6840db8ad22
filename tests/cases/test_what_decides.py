"""What is asked for, fetched as it says: the command is run in a shell, and its output decides what was open.

Each case is a recording that is cut to what somebody pastes first. The commands find the files of the same recording
where they expect them: `$LOG_DIR`, `server.log`, `app.log`. kafka-dump-log.sh is played by `kafkatx dump`, whose lines
are the tool's own; kafka-transactions.sh answers what it answered when the cluster was recorded (fixtures/answers).
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from kafkatx.local.diagnosis import diagnose
from kafkatx.outputs.diagnosis_json import document
from kafkatx.terms.topics import partition_for
from kafkatx.terms.verdicts import Verdict
from tests.evidence import ROOT, fixtures


@dataclass(frozen=True)
class Cut:
    """A recording, the lines of one of its files that are pasted first, and what must be asked for to decide `rule`.

    `app_log` is the application's log, where it is not the file of the first lines.
    """

    case: str
    first: str
    lines: str
    asked: str
    rule: str
    app_log: str | None = None


CUTS = {
    "state_rows": Cut("k39-fenced", "logs/client-payments-a.log", "Transiting to fatal", "__transaction_state-42/",
                      "fenced_by_new_instance"),
    "coordinator_log": Cut("k39-timeout", "logs/client-payments-a.log", "Transiting to fatal", "due to timeout",
                           "transaction_timed_out"),
    "other_instances": Cut("k39-fenced", "logs/client-payments-a.log", "Transiting to fatal", "grep -rlF",
                           "fenced_by_new_instance"),
    "client_log": Cut("k24-unresolved", "logs/client-orders.log", "Expiring 1 record", "app.log",
                      "unresolved_sequence"),
    "find_hanging": Cut("answers/hanging", "payments-0.txt", "", "find-hanging", "hanging_transaction"),
    "describe": Cut("answers/stuck", "list.txt", "", "describe --transactional-id", "stuck_prepare"),
    "client_settings": Cut("answers/limit", "config/client-night-job.properties", "", "server.properties",
                           "misconfiguration", "logs/client-night-job.log"),
    "describe_producers": Cut("answers/hanging", "payments-0.txt", "", "describe-producers --topic payments",
                              "read_committed_blocked"),
    "describe_producers of a group": Cut("answers/waiting", "client-settlement-1.txt", "",
                                         "describe-producers --topic __consumer_offsets --partition 49",
                                         "pending_offset_commit"),
    "partition_dump": Cut("answers/hanging", "asked-payments-0.txt", "", "/payments-0/", "read_committed_blocked"),
    "broker_logs": Cut("f-flink-sink", "logs/client-hourly.log", r" ERROR |^(org|java)\..*(Exception|Error)",
                       "shutting down", "transaction_timed_out"),
    "consumer_log": Cut("f-streams-frozen", "logs/client-sessions-1.log", "WARN .*Detected that|TaskMigrated",
                        "max\\.poll", "transaction_timed_out"),
}  # fmt: skip


def told(*paths: Path) -> dict[str, Any]:
    """Diagnose some texts."""
    return document(diagnose(paths), "test")


def site(case: Path, log: Path, folder: Path) -> dict[str, str]:
    """Lay the files of a recording where the commands look for them; return the environment that they run in."""
    for number, written in enumerate(sorted((case / "logs").glob("broker-*/server.log"))):
        (folder / f"server.log{f'.{number}' if number else ''}").write_bytes(written.read_bytes())
    for written in (case / "config").glob("server-1.properties"):
        (folder / "server.properties").write_bytes(written.read_bytes())
    for written in (case / "logs").glob("client-*.log"):
        (folder / written.name).write_bytes(written.read_bytes())
    (folder / "app.log").write_bytes(log.read_bytes())
    brokers, tools = folder / "broker", folder / "bin"
    brokers.mkdir()
    tools.mkdir()
    for partition in case.glob("broker-1/__transaction_state-*"):
        if any("payments-eu-1" in part.read_text("latin-1") for part in partition.glob("*.log")):
            (brokers / f"__transaction_state-{partition_for('payments-eu-1', 50)}").symlink_to(partition)
    for partition in case.glob("broker-1/payments-*"):
        (brokers / partition.name).symlink_to(partition)
    answers = {
        "kafka-dump-log.sh": f'exec {sys.executable} -m kafkatx dump "$@"',
        "kafka-transactions.sh": f'shift 2; cat {case}/"$1"-"$3".txt',
    }
    for name, does in answers.items():
        (tools / name).write_text(f"#!/bin/sh\n{does}\n")
        (tools / name).chmod(0o755)
    found = {"PATH": f"{tools}:{os.environ['PATH']}", "LOG_DIR": str(brokers), "BOOTSTRAP": "127.0.0.1:9092"}
    return {**os.environ, **found, "PYTHONPATH": str(ROOT)}


def verdict(found: dict[str, Any], rule: str) -> Verdict:
    """How sure a diagnosis is of a rule, at its surest."""
    return max((Verdict[one["verdict"]] for one in found["findings"] if one["rule"] == rule), default=Verdict.possible)


@pytest.mark.parametrize("kind", CUTS)
def test_what_is_asked_for_decides(kind: str, tmp_path: Path) -> None:
    cut = CUTS[kind]
    case = fixtures() / cut.case
    whole = case / cut.first
    first = tmp_path / "first.txt"
    first.write_text(
        "".join(line for line in whole.read_text().splitlines(keepends=True) if re.search(cut.lines, line))
    )
    before = told(first)
    command = next(one["command"] for one in before["next"] if cut.asked in one["command"])
    folder = tmp_path / "site"
    folder.mkdir()
    places = site(case, case / cut.app_log if cut.app_log else whole, folder)
    run = subprocess.run(["bash", "-c", command], cwd=folder, env=places, capture_output=True, check=False)
    assert run.returncode == 0, run.stderr.decode()
    brought = tmp_path / "brought.txt"
    brought.write_bytes(run.stdout)
    named = [folder / name for name in run.stdout.decode().split()] if kind == "other_instances" else [brought]
    after = told(first, *named)
    assert verdict(after, cut.rule) > verdict(before, cut.rule)
    assert after["answer"]["failures"]["unexplained"] == 0
