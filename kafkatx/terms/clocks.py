"""Whose clock wrote a time, and how far two clocks may differ before a comparison means something."""

BROKERS_TOLERANCE_MS = 2_000
"""Between two brokers of one cluster."""
CLIENT_TOLERANCE_MS = 5_000
"""Between a client and a broker."""
RETRY_WINDOW_MS = 5_000
"""How soon after CompleteAbort the InitProducerId that caused it comes again (CONCURRENT_TRANSACTIONS is retried
after 20 to 500 ms;
a lost answer costs more)."""
PROMPT_RETRY_MS = 1_000
"""The same where a later Empty row has another ordinary reading: transactions v2, and a client's own bump of its
epoch (KIP-360).
"""
OLD_CLEANUP_INTERVAL_MS, CLEANUP_INTERVAL_MS = 60_000, 10_000
"""Default transaction.abort.timed.out.transaction.cleanup.interval.ms to 2.4, and from 2.5 on."""
GIVEN_UP_MS = 3_000
"""How soon after transaction.timeout.ms a client aborts that gave up by itself: its calls wait max.block.ms, by default
60 s like the timeout, and begin a little later than the transaction."""
DAY_MS = 86_400_000
TIMEOUT_SLACK_MS = 5_000
"""What the coordinator's own work may add to timeout and interval."""
LATE_TRANSACTION_BUFFER_MS = 300_000
"""What a broker waits beyond the longest timeout before it counts a transaction as late (ProducerStateManager)."""
MAX_TRANSACTION_TIMEOUT_MS = 900_000
"""Default transaction.max.timeout.ms."""
EXPIRATION_MS = 604_800_000
"""Default transactional.id.expiration.ms, 0.11 to 4.4."""
STREAMS_TIMEOUT_MS = 10_000
"""Default of transaction.timeout.ms of Kafka Streams."""
TRANSACTION_TIMEOUT_MS = 60_000
"""Default transaction.timeout.ms of clients."""
REQUEST_TIMEOUT_MS = 30_000
"""Default request.timeout.ms of clients and brokers."""
DELIVERY_TIMEOUT_MS = 120_000
"""Default delivery.timeout.ms of producers (2.1 on): no batch is retried longer."""
MAX_BLOCK_MS = 60_000
"""Default max.block.ms of producers."""
TRANSACTIONS_V2_SINCE_MS = 1_742_256_000_000
"""2025-03-18, when 4.0.0 was released: what a broker wrote before is of the classic protocol (KIP-890)."""
TWO_PHASE_TIMEOUT_MS = 2_147_483_647
"""Timeout that the coordinator records of a two-phase transaction (KIP-939): it never ends one that is late."""


def share_most(one: tuple[int, int], other: tuple[int, int]) -> bool:
    """Whether two stretches overlap by half of the shorter one, which clocks that differ a little do not change."""
    shared = min(one[1], other[1]) - max(one[0], other[0])
    return shared >= 0 and 2 * shared >= min(one[1] - one[0], other[1] - other[0])
