"""Expired ids as a client's log shows them: INVALID_PRODUCER_ID_MAPPING after a time in which nothing happened."""

from __future__ import annotations

from collections.abc import Iterator

from kafkatx.histories.logs.settings import Effective
from kafkatx.histories.logs.story import ClientInstance, Failure
from kafkatx.histories.story import Story
from kafkatx.rules.ends import hands_ids_on
from kafkatx.rules.finding import Finding
from kafkatx.terms.clocks import CLIENT_TOLERANCE_MS, EXPIRATION_MS
from kafkatx.terms.error_codes import ErrorCode
from kafkatx.terms.times import clock, duration
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.words.advised import advised
from kafkatx.words.explained import Considered, Step
from kafkatx.words.log_places import client_actor, event_place, failure_phrase, failure_places
from kafkatx.words.remedies import id_expiration

RULE = "transactional_id_expired"
UNMAPPED = ErrorCode.INVALID_PRODUCER_ID_MAPPING
LONG_IDLE_MS = 86_400_000
"""From a day on people suspect an expiry."""
SETTING = "transactional.id.expiration.ms"


def expired_in_logs(story: Story, told: set[str | None]) -> Iterator[Finding]:
    """One finding for each client that was told so, unless rows tell it already (`told`) or refute it."""
    for client in story.logs.clients:
        name = client.transactional_id
        failure = next((one for one in client.failures if one.error is UNMAPPED), None)
        if name is None or failure is None or not client.owns_producer_ids or name in told:
            continue
        if not _goes_on(story, name, client, failure):
            yield _finding(story, name, client, failure)


def met_by_client(story: Story, name: str) -> tuple[ClientInstance, Failure] | None:
    """The client that was told of an expired id, for the finding that rows make of it."""
    for client in story.logs.clients_of(name):
        for failure in client.failures:
            if failure.error is UNMAPPED:
                return client, failure
    return None


def _goes_on(story: Story, name: str, client: ClientInstance, failure: Failure) -> bool:
    """Whether the coordinator's rows know the id under the same producer id after that: then nothing had expired."""
    latest = story.latest_of(story.id_code(name))
    if latest is None or latest["state"] < 0 or failure.at is None:
        return False
    return int(latest["producer_id"]) in client.producer_ids and int(latest["timestamp"]) > failure.at


def _finding(story: Story, name: str, client: ClientInstance, failure: Failure) -> Finding:
    before = _last_before(story, client, failure)
    idle = _idle(story, before, failure)
    limit = story.logs.settings.value("broker", SETTING)
    expiration = limit.number or EXPIRATION_MS
    after = idle is not None and idle + CLIENT_TOLERANCE_MS > expiration
    given = [one for one in client.initialisations if one.row < failure.row]
    again = [one for one in client.initialisations if one.row > failure.row]
    old = given[-1] if given else None
    steps = [] if before is None or idle is None else [_idle_step(story, before, idle)]
    steps.append(
        Step(
            f"then {failure_phrase(failure)}",
            "the coordinator no longer knew the producer id of the id",
            failure_places(story, failure),
        )
    )
    if again and old is not None and again[0].producer_id != old.producer_id:
        text = f"after that it was given producer id {again[0].producer_id} instead of {old.producer_id}"
        steps.append(Step(text, "a forgotten id gets a new one", (event_place(story, again[0].row),)))
    waited = f"after {duration(idle)} without a sign" if idle is not None else "at a time that nothing tells"
    return Finding(
        rule=RULE,
        verdict=Verdict.likely if after and not hands_ids_on(story, name) else Verdict.possible,
        severity=Severity.error if after and failure.category == "fatal" else Severity.warning,
        summary=f"{name} was not known to its coordinator any more {waited}: its id had expired",
        transactional_id=name,
        producer_id=old.producer_id if old is not None else None,
        producer_epoch=old.producer_epoch if old is not None else None,
        since=story.logs.at(before) if before is not None else failure.at,
        until=failure.at,
        actors=(client_actor(story, client),),
        steps=tuple(steps),
        considered=(Considered("a deleted id or another cluster", _others(limit, expiration, after)),),
        remedies=id_expiration(advised(story, name, client), idle or 0, f"it was idle for {duration(idle or 0)}")
        if after
        else (),
    )


def _last_before(story: Story, client: ClientInstance, failure: Failure) -> int | None:
    """The client's last line before the failure began to show."""
    first = min(failure.rows or (failure.row,))
    earlier = [row for row in client.rows if row < first and story.logs.times[row] >= 0]
    return earlier[-1] if earlier else None


def _idle(story: Story, before: int | None, failure: Failure) -> int | None:
    if before is None or failure.at is None:
        return None
    return max(0, failure.at - int(story.logs.times[before]))


def _idle_step(story: Story, before: int, idle: int) -> Step:
    text = f"its log shows nothing for {duration(idle)} after {clock(int(story.logs.times[before]))}"
    return Step(text, "the line before; transactions that go well leave no line", (event_place(story, before),))


def _others(limit: Effective, expiration: int, after: bool) -> str:
    setting = f"{SETTING} is {limit}" if limit.is_known else f"{SETTING} is not at hand, the default is {expiration}"
    if after:
        return f"not refuted for certain; {setting}, and nothing was seen of the id for longer"
    return f"not refuted: {setting}, and its log does not show so long a pause"
