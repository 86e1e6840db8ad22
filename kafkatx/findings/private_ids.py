"""Refusals of an old epoch under an id that one process alone can know: no other instance took it.

Kafka Streams (exactly_once_v2) and ksqlDB make a transactional.id of application.id, a UUID that each process makes for
itself, and the number of the thread. No other process has that UUID, and a process has one producer a thread at a time:
so what raised the epoch was the coordinator's timeout, or an operator. A state directory that was copied carries its
UUID along, so this is likely and never proved; logs of two processes with one id refute it.
"""

from __future__ import annotations

from collections.abc import Iterator

from kafkatx.findings.one_failure import Alike, alike
from kafkatx.findings.told_failures import ToldFailure
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.transaction_ends import ToldBy
from kafkatx.terms.catalogue.frameworks import is_of_one_process
from kafkatx.terms.error_codes import FENCED, error_code


def private_refusals(model: CaptureModel) -> Iterator[Alike]:
    """Yield refusals of clients whose ids no other process can have, where no ended transaction is known for them."""
    ends = model.ends
    told = {ends.log(number).name for number in ends.numbers(ToldBy.logs)}
    for found in alike(model, lambda one: _is_private(model, one)):
        name = found.first.transactional_id or ""
        if name not in told and model.latest_of(model.id_code(name)) is None:
            yield found


def _is_private(model: CaptureModel, told: ToldFailure) -> bool:
    name = told.transactional_id
    if told.is_brokers or name is None or not is_of_one_process(name):
        return False
    known = told.known.name if told.known is not None else told.error
    is_refused = error_code(known) in FENCED or error_code(told.error) in FENCED
    return is_refused and len({client.source for client in model.logs.clients_of(name)}) < 2
