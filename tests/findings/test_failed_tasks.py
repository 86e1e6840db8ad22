"""A task of Kafka Connect that ended for good is told beside the cause, with the call that brings it back."""

import pytest

from kafkatx.local.diagnosis import diagnose

KILLED = (
    "[2024-02-11 09:12:03,551] ERROR [{name}|task-2] {kind}{{id={name}-2}} Task threw an uncaught and unrecoverable "
    "exception. Task is being killed and will not recover until manually restarted "
    "(org.apache.kafka.connect.runtime.WorkerTask)\n"
    "org.apache.kafka.connect.errors.ConnectException: Unrecoverable exception from producer send callback\n"
    "\tat org.apache.kafka.connect.runtime.WorkerSourceTask.commitOffsets(WorkerSourceTask.java:270)\n"
    "Caused by: org.apache.kafka.common.errors.{error}\n"
)
OLD = (
    "[2019-02-11 09:12:03,551] ERROR WorkerSinkTask{id=bills-0} Task threw an uncaught and unrecoverable exception "
    "(org.apache.kafka.connect.runtime.WorkerTask)\n"
    "org.apache.kafka.common.errors.TimeoutException: Timeout expired after 60000ms while awaiting InitProducerId\n"
    "[2019-02-11 09:12:03,552] ERROR WorkerSinkTask{id=bills-0} Task is being killed and will not recover until "
    "manually restarted (org.apache.kafka.connect.runtime.WorkerTask)\n"
)
ERRORS = (
    "ProducerFencedException: There is a newer producer with the same transactionalId which fences the current one.",
    "TopicAuthorizationException: Not authorized to access topics: [bills]",
)


def findings(folder, text):
    path = folder / "connect.log"
    path.write_text(text)
    return [one.finding for one in diagnose([path]).findings]


@pytest.mark.parametrize("kind", ["WorkerSourceTask", "ExactlyOnceWorkerSourceTask", "WorkerSinkTask"])
@pytest.mark.parametrize("error", ERRORS)
def test_the_task_is_told_as_failed_and_how_it_comes_back(tmp_path, kind, error):
    (finding,) = findings(tmp_path, KILLED.format(name="eu bills", kind=kind, error=error))
    assert "Task 2 of connector eu bills" in finding.steps[-1].text
    assert "FAILED" in finding.steps[-1].text
    assert finding.steps[-1].places[0].line == 1
    last = finding.remedies[-1]
    assert "restarts it" in last.text
    assert last.command == "curl -X POST http://HOST:8083/connectors/eu%20bills/tasks/2/restart"


def test_two_lines_about_one_task_are_one_task(tmp_path):
    (finding,) = findings(tmp_path, OLD)
    assert [one.command for one in finding.remedies if one.command and "curl" in one.command] == [
        "curl -X POST http://HOST:8083/connectors/bills/tasks/0/restart"
    ]


def test_a_log_with_its_newest_line_first_tells_the_task_all_the_same(tmp_path):
    newest_first = (
        "[2024-10-08 03:31:47,915] ERROR [bills|task-4] WorkerSinkTask{id=bills-4} Task threw an uncaught and "
        "unrecoverable exception. Task is being killed and will not recover until manually restarted "
        "(org.apache.kafka.connect.runtime.WorkerTask:212)\n"
        "[2024-10-08 03:31:47,660] INFO [bills|task-4] [Producer clientId=p, transactionalId=t] Transiting to fatal "
        "error state due to org.apache.kafka.common.KafkaException: Unexpected error in AddOffsetsToTxnResponse: The "
        "server experienced an unexpected error when processing the request.\n"
    )
    (finding,) = findings(tmp_path, newest_first)
    assert "Task 4 of connector bills" in finding.remedies[-1].text
    (earlier,) = findings(tmp_path, newest_first.replace("03:31:47,915", "03:11:47,915"))
    assert "Task 4" not in earlier.remedies[-1].text


def test_a_task_that_went_on_is_not_told_as_failed(tmp_path):
    text = KILLED.format(name="bills", kind="WorkerSourceTask", error=ERRORS[0])
    told = text.replace("Task threw an uncaught and unrecoverable exception. Task is being killed and will not recover "
                        "until manually restarted", "Failed to commit offsets")  # fmt: skip
    assert all("FAILED" not in one.text for found in findings(tmp_path, told) for one in found.steps)


FENCED = (
    "org.apache.kafka.connect.errors.ConnectException: Exiting task\\n\\tat org.apache.kafka.connect.runtime."
    "WorkerTask.run(WorkerTask.java:259)\\nCaused by: org.apache.kafka.common.errors.ProducerFencedException: There is "
    "a newer producer with the same transactionalId which fences the current one.\\n"
)
NO_GROUP = (
    "org.apache.kafka.common.errors.GroupAuthorizationException: Not authorized to access group: connect-lines\\n"
)
ONE_LINE = (
    '{"name":"eu-bills","connector":{"state":"RUNNING","worker_id":"w1:8083"},"tasks":[{"id":0,"state":"RUNNING",'
    '"worker_id":"w1:8083"},{"id":1,"state":"FAILED","worker_id":"w2:8083","trace":"'
    + FENCED
    + '"}],"type":"source"}\n'
)
PRETTY = """$ curl -s http://w1:8083/connectors/eu-bills/status | jq
{
  "name": "eu-bills",
  "connector": {
    "state": "RUNNING",
    "worker_id": "w1:8083"
  },
  "tasks": [
    {
      "id": 1,
      "state": "FAILED",
      "worker_id": "w2:8083",
      "trace": "%s"
    },
    {
      "id": 2,
      "state": "FAILED",
      "worker_id": "w2:8083",
      "trace": "%s"
    }
  ],
  "type": "source"
}
"""
OF_TASK = (
    'curl http://w1:8083/connectors/eu-bills/tasks/1/status\n{"id":1,"state":"FAILED","worker_id":"w2:8083","trace":"'
    + FENCED
    + '"}\n'
)
IN_RESOURCE = """status:
  connectorStatus:
    connector:
      state: RUNNING
      worker_id: w1:8083
    name: eu-bills
    tasks:
    - id: 1
      state: FAILED
      trace: |
        org.apache.kafka.common.errors.ProducerFencedException: There is a newer producer with the same transactionalId
      worker_id: w2:8083
"""  # fmt: skip
RESTARTED = "curl -X POST http://HOST:8083/connectors/eu-bills/tasks/{}/restart"


def restarts(finding):
    return [one.command for one in finding.remedies if one.command and "restart" in one.command]


@pytest.mark.parametrize("text", [ONE_LINE, OF_TASK, IN_RESOURCE], ids=["one line", "one task", "a resource in YAML"])
def test_a_status_tells_the_task_that_its_trace_ended(tmp_path, text):
    (finding,) = findings(tmp_path, text)
    assert restarts(finding) == [RESTARTED.format(1)]
    assert finding.steps[-1].text.startswith("Task 1 of connector eu-bills ended with it and is FAILED")


def test_each_task_of_a_status_is_told_beside_its_own_cause(tmp_path):
    found = findings(tmp_path, PRETTY % (FENCED, NO_GROUP))
    told = {one.title: restarts(one) for one in found}
    (fenced,) = (title for title in told if "ProducerFenced" in title)
    assert told[fenced] == [RESTARTED.format(1)]
    assert all(RESTARTED.format(1) not in commands for title, commands in told.items() if title != fenced)


def test_what_follows_the_trace_in_its_object_is_none_of_its_words(tmp_path):
    (finding, *_) = findings(tmp_path, PRETTY % (FENCED, FENCED))
    assert all('"' not in place.text for one in finding.steps for place in one.places)


def test_a_connector_that_failed_itself_is_restarted_whole(tmp_path):
    refused = (
        "org.apache.kafka.common.errors.TransactionalIdAuthorizationException: Transactional Id authorization failed."
    )
    text = f'{{"name":"eu","connector":{{"state":"FAILED","worker_id":"w1:8083","trace":"{refused}\\n"}},"tasks":[]}}\n'
    (finding,) = findings(tmp_path, text)
    assert restarts(finding) == ["curl -X POST http://HOST:8083/connectors/eu/restart"]
    assert "Connector eu ended with it" in finding.steps[-1].text


@pytest.mark.parametrize(
    ("old", "new"), [('"state":"FAILED"', '"state":"RUNNING"'), ("worker_id", "host"), ('"name":"eu-bills",', "")],
    ids=["a task that runs", "a state of something else", "of a connector that nobody names"],
)  # fmt: skip
def test_what_is_no_failed_task_of_a_known_connector_is_told_as_none(tmp_path, old, new):
    assert not any(restarts(one) for one in findings(tmp_path, ONE_LINE.replace(old, new)))


NAMELESS = (
    "org.apache.kafka.connect.errors.ConnectException: Exiting WorkerSinkTask due to unrecoverable exception.\n"
    "\tat org.apache.kafka.connect.runtime.WorkerSinkTask.deliverMessages(WorkerSinkTask.java:632)\n"
    "Caused by: org.apache.kafka.clients.consumer.CommitFailedException: Transaction offset Commit failed due to "
    "consumer group metadata mismatch: Specified group generation id is not valid.\n"
)


def test_the_exception_that_ends_a_task_is_enough_to_tell_that_one_is_down(tmp_path):
    (finding,) = findings(tmp_path, NAMELESS)
    assert finding.severity.name == "error"
    assert finding.steps[-1].text.startswith("A task ended with it and is FAILED")
    assert finding.remedies[0].command == "curl -X POST http://HOST:8083/connectors/CONNECTOR/tasks/NUMBER/restart"


def test_a_task_that_is_named_is_told_by_its_name_only(tmp_path):
    killed = "[2024-02-11 09:12:03,551] ERROR WorkerSinkTask{id=bills-2} Task threw an uncaught and unrecoverable "
    log = f"{killed}exception. Task is being killed and will not recover until manually restarted\n{NAMELESS}"
    (finding,) = findings(tmp_path, log)
    assert [one.command for one in finding.remedies if one.command] == [
        "curl -X POST http://HOST:8083/connectors/bills/tasks/2/restart"
    ]


def test_a_refused_commit_alone_ends_no_task(tmp_path):
    (finding,) = findings(tmp_path, NAMELESS.partition("Caused by: ")[2])
    assert finding.severity.name == "info"
