"""From the facts of logs to their story: clocks first, then the clients, whose times are the brokers' by then."""

from __future__ import annotations

from kafkatx.histories.clients import clients
from kafkatx.histories.clocks import References, clocks
from kafkatx.histories.logs import LogStory
from kafkatx.text.events import LogFacts


def tell_logs(facts: LogFacts, references: References | None = None, log_zone_ms: int | None = None) -> LogStory:
    """Interpret logs and settings of one capture.

    `references` are times that the coordinator's rows know of events which logs show too; `log_zone_ms` is the zone of
    sources whose times name none (what is to be subtracted to get UTC), None to estimate it.
    """
    told = clocks(facts, references or References(), log_zone_ms)
    return clients(LogStory(facts, told))
