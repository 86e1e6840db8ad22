"""Refusals that name no id, or one that nobody else can have: the time, people's words or the id itself decide.

Where none of them does, the framework that owns the producer makes a timeout possible.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from kafkatx.findings.elapsed import OTHER, TIME_STEPS, WHO_DECIDES, TimeFacts, decided_cases, seen_alike
from kafkatx.findings.one_failure import FailureFacts, failure_case, failure_facts
from kafkatx.findings.private_ids import private_refusals
from kafkatx.findings.rule import Case
from kafkatx.findings.told_by_people import (
    FLINK,
    STREAMS,
    TOLD_STEPS,
    OwnedFacts,
    ToldFacts,
    owned_by_framework,
    told_cases,
)
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.endings import EndedBy
from kafkatx.rules.timeouts.shared_words import OTHER_INSTANCE
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.words.explanation import RemedyWords, Words, included, left_open, remedy, ruled_out, step
from kafkatx.words.template import Text, pick
from kafkatx.words.values import facts


@facts
class TimedOutByTime(TimeFacts):
    """A refusal that no id is named for, and that the time decides."""


@facts
class TimedOutAsTold(ToldFacts):
    """A refusal whose cause no line decides, and that people's words do."""


@facts
class TimedOutInFramework(OwnedFacts):
    """A refusal whose cause nothing decides, of a producer that a framework owns."""


@facts
class TimedOutAlone(FailureFacts):
    """Refusals under an id that no other instance can have."""


def timed_out_by_refusals(model: CaptureModel) -> Iterator[Case]:
    """One case for each of these refusals."""
    yield from decided_cases(model, EndedBy.timeout, TimedOutByTime)
    yield from told_cases(model, EndedBy.timeout, TimedOutAsTold)
    for owned, framework in owned_by_framework(model):
        facts_of = TimedOutInFramework(**failure_facts(model, owned), framework=framework)
        yield failure_case(model, owned, facts_of, Verdict.possible, Severity.error)
    for alone in private_refusals(model):
        told = TimedOutAlone(**failure_facts(model, alone))
        yield failure_case(model, alone, told, Verdict.likely, Severity.warning)


def _longer(first: Text, current: Text | None, above: Text) -> RemedyWords:
    """Return the advice to give its transactions more time, or less to do."""
    return remedy(
        text=(first, ", or commit more often. Then close this producer, create a new one and repeat the work"),
        where="client",
        config="transaction.timeout.ms",
        current=current,
        proposed=above,
    )


TIME_WORDS = Words(
    TimedOutByTime,
    title="timed out after {age}",
    summary=(
        "The producer was refused {age} after its transaction began. That is longer than its transaction.timeout.ms ("
        "{timeout}",
        pick("is_set", {True: ""}, ", the default"),
        "): the coordinator[ {perhaps}] had aborted it.",
    ),
    actors=(included("client"),),
    steps=TIME_STEPS,
    considered=(seen_alike(OTHER_INSTANCE), OTHER),
    remedies=(
        _longer(
            "Raise transaction.timeout.ms above the longest transaction",
            pick("is_set", {True: "{timeout:ms}"}),
            "above {age:ms}",
        ),
    ),
)

TOLD_WORDS = Words(
    TimedOutAsTold,
    title="transaction timed out",
    summary=pick(
        "took",
        {
            None: "The producer[ {name.transactional_id}] was refused with {error}. What is said beside these lines "
            "speaks for a timeout: the coordinator[ {perhaps}] had aborted its transaction."
        },
        "The producer[ {name.transactional_id}] was refused with {error}. Its work is said to have taken {took}, "
        "longer than transaction.timeout.ms[ ({timeout})]: the coordinator[ {perhaps}] had aborted its transaction.",
    ),
    actors=(included("client"),),
    steps=TOLD_STEPS,
    considered=(
        ruled_out(
            OTHER_INSTANCE,
            "as soon as another instance has the id, the old one is refused for its epoch, not for a state",
            cites="lines",
            needs="is_of_state",
        ),
        replace(seen_alike(OTHER_INSTANCE), unless="is_of_state"),
        replace(OTHER, unless="is_of_state"),
        left_open(
            "a transaction that was ended before",
            "a second commit of the same transaction meets the same error",
            decided_by=WHO_DECIDES,
            needs="is_of_state",
        ),
    ),
    remedies=(
        _longer(
            pick(
                "took",
                {
                    None: "Find out how long its transactions take. Raise transaction.timeout.ms above the longest",
                },
                "Get slow answers before the transaction begins, or raise transaction.timeout.ms above {took}",
            ),
            "{timeout:ms}",
            pick("took", {None: "above its longest transaction"}, "above {took:ms}"),
        ),
    ),
)

FRAMEWORK_WORDS = Words(
    TimedOutInFramework,
    title="{framework}: transaction timed out",
    summary=(
        "The producer of {framework} was refused with {error}: the coordinator[ {perhaps}] had aborted its transaction "
        "at transaction.timeout.ms. That is the commonest cause there: ",
        pick(
            "framework",
            {
                FLINK: "a transaction stays open from one checkpoint to the next, and each task makes ids of its own.",
                STREAMS: "the timeout is 10 s by default, and with exactly_once_v2 each process has ids of its own.",
            },
        ),
    ),
    actors=(included("client"),),
    steps=(step("The producer was refused, {count:time}: its epoch was stale", cites="lines"),),
    considered=(seen_alike(OTHER_INSTANCE), OTHER),
    remedies=(
        remedy(
            (
                "Restart what ended with it (thread, task or job): ",
                pick(
                    "framework",
                    {
                        FLINK: "{framework} makes a new producer by itself",
                        STREAMS: "{framework} aborts the transaction and processes its input again by itself",
                    },
                ),
            ),
            "operator",
        ),
        remedy(
            text=pick(
                "framework",
                {
                    FLINK: "Look how long checkpoints, and restores from them, took. Raise transaction.timeout.ms "
                    "above that (and transaction.max.timeout.ms of the brokers with it)",
                },
                "Find out what held the thread up (paused host, long garbage collection, a slow record). If it must be "
                "survived, raise the producer's transaction.timeout.ms above it",
            ),
            where="client",
            config="transaction.timeout.ms",
        ),
    ),
)

ALONE_WORDS = Words(
    TimedOutAlone,
    who="{name.transactional_id}",
    title="timed out",
    summary="The producer of {name.transactional_id} was fenced. Its transaction[ {perhaps}] timed out: the id holds a "
    "UUID of its own process, so no other instance can have taken it.",
    actors=(included("client"),),
    steps=(
        step(
            "The client was refused, {count:time}: its epoch was stale",
            "its transactional.id is application.id, the UUID of the process and the thread",
            cites="lines",
        ),
    ),
    considered=(
        ruled_out(OTHER_INSTANCE, "each process of Kafka Streams makes a UUID of its own"),
        left_open(
            "a copied state directory",
            "it carries the UUID of its process along",
            decided_by="logs of all processes of the application",
        ),
        OTHER,
    ),
    remedies=(
        remedy(
            "Nothing to do for the records: Kafka Streams closes the producer and reads again from the committed "
            "offsets by itself",
            "application",
        ),
        remedy(
            text="Find out what held the thread up (paused host, long garbage collection, a slow record). If it must "
            "be survived, raise the producer's transaction.timeout.ms above it (Kafka Streams: 10 s by default)",
            where="client",
            config="transaction.timeout.ms",
        ),
    ),
)
REFUSAL_WORDS = (TIME_WORDS, TOLD_WORDS, FRAMEWORK_WORDS, ALONE_WORDS)
