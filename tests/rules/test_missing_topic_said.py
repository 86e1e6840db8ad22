"""misconfiguration of a topic that is not there, where no broker's answer is at hand and people say it."""

from __future__ import annotations

from pathlib import Path

import pytest

import kafkatx
from kafkatx.outputs.diagnosis_json import document

WAITED = "org.apache.kafka.common.errors.TimeoutException: Topic escalations not present in metadata after 60000 ms."
LAYOUTS = (
    f"10:00:01.118 [main] ERROR c.e.App - could not send\njava.util.concurrent.ExecutionException: {WAITED}\n",
    "13:50:22.318 [task-0] o.a.k.c.r.WorkerTask ERROR - WorkerSourceTask{id=wf-0} Task threw an uncaught and "
    "unrecoverable exception org.apache.kafka.connect.errors.ConnectException: Unrecoverable exception from producer "
    "send callback\n\tat org.apache.kafka.connect.runtime.WorkerSourceTask.execute(WorkerSourceTask.java:248)\n"
    f"Caused by: {WAITED}\n",
)
SAID = (
    "(auto.create is off on that cluster)",
    "auto.create.topics.enable=false here",
    "Then we saw that the topic was never created in production.",
    "Of course: the topic escalations does not exist there, somebody forgot to create the topic.",
)
BROKEN = (
    "10:00:00.118 [kafka-producer-network-thread | p-1] WARN o.a.k.clients.NetworkClient - [Producer clientId=p-1] "
    "Connection to node -1 (localhost/127.0.0.1:9092) could not be established. Node may not be available.\n"
)


def _told(folder: Path, *parts: str) -> dict[str, str]:
    path = folder / "page.md"
    path.write_text("\n".join((*parts, "")))
    return {one["rule"]: one["verdict"] for one in document(kafkatx.diagnose([path]), "t")["findings"]}


@pytest.mark.parametrize("log", LAYOUTS, ids=["an application", "Connect"])
@pytest.mark.parametrize("said", SAID)
def test_it_is_likely_and_brokers_are_left_open(said, log, tmp_path):
    told = _told(tmp_path, log, said)
    assert told["misconfiguration"] == "likely"
    assert "broker_unreachable" not in told


@pytest.mark.parametrize(
    ("log", "said"),
    [
        (LAYOUTS[0], "What is it?"),
        (LAYOUTS[0], "auto.create.topics.enable is true"),
        (LAYOUTS[0], "If the topic does not exist this would be clear."),
        (LAYOUTS[0], "the topic was created last week"),
        (BROKEN + LAYOUTS[0], SAID[0]),
    ],
    ids=["nothing", "made by itself", "a thought", "it is there", "a connection failed"],
)
def test_what_does_not_say_it_leaves_it_open(log, said, tmp_path):
    assert "misconfiguration" not in _told(tmp_path, log, said)
