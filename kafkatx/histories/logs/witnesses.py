"""What logs saw of the end of each transaction: rows of events laid beside transactions, before endings are decided.

Grain: ended transactions (of rows, or aborted data of which no row is at hand); vectorised over all at once, with loops
only over instances' failures. Nothing is decided here: a witness is a line that belongs to this end and no other, by
producer id and epoch, or by the id and the time. Brokers are heard (broker_witnesses.py), the instances are found that
ran a transaction or took over its id (instance_witnesses.py), then their own logs are heard (client_witnesses.py).
"""

from __future__ import annotations

from kafkatx.histories.logs.broker_witnesses import requests, rollbacks, silence, stale_epochs
from kafkatx.histories.logs.client_witnesses import aborts, own_bumps, refusals
from kafkatx.histories.logs.corroboration import Corroboration, EvidenceMatcher, nobody
from kafkatx.histories.logs.ends import Ends
from kafkatx.histories.logs.instance_witnesses import grants, instances
from kafkatx.histories.logs.log_model import LogModel


def witnesses(logs: LogModel, ends: Ends) -> Corroboration:
    """Lay the events of logs beside ends."""
    if not len(logs.events) or not len(ends.decided_at):
        return nobody(len(ends.decided_at))
    matcher = EvidenceMatcher(logs, ends)
    rollbacks(matcher)
    silence(matcher)
    instances(matcher)
    grants(matcher)
    refusals(matcher)
    stale_epochs(matcher)
    aborts(matcher)
    own_bumps(matcher)
    requests(matcher)
    return matcher.found
