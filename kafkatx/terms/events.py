"""What a line of a log can tell: one kind an event, with the columns of kernels.rows.EVENT that it fills.

The columns source, position, line, at, level, side, logger, thread and, where the line names them, client_id,
transactional_id, group and trace are filled for every kind. The lines themselves are data:
terms/catalogue/log_texts.tsv leads from the texts of Kafka's source (and of librdkafka, kafka-python, aiokafka,
franz-go) to kinds and columns.
"""

from enum import IntEnum


class Side(IntEnum):
    """Who wrote a log."""

    unknown = -1
    client = 0
    broker = 1


class Level(IntEnum):
    """Level of a log line; `unknown` where none is printed."""

    unknown = -1
    trace = 0
    debug = 1
    info = 2
    warn = 3
    error = 4


LEVELS_OF_KAFKA = "TRACE|DEBUG|INFO|WARN|ERROR"
"""What Kafka's programs log at, as it stands in lines: alternatives of a pattern, as the next two are. What each means
is in text/logs/layouts.py."""
LEVELS_OF_LOG4J = f"{LEVELS_OF_KAFKA}|FATAL"
LOUD_LEVELS = "TRACE|DEBUG|INFO|WARN(?:ING)?|ERROR|FATAL|SEVERE"
"""Those of log4j and java.util.logging that people know for levels, written in capitals."""


class EventKind(IntEnum):
    """Kinds of events. In brackets: the columns filled beside the common ones."""

    # clients
    client_started = 1
    """A producer or consumer was made. [detail: transactional producer, idempotent producer, ...]"""
    client_release = 2
    """The library names its release. [detail: the release]"""
    init_called = 3
    """InitProducerId for the first time."""
    init_bump = 4
    """The client asks for a new epoch of its own producer id (KIP-360). [producer_id, producer_epoch: the old ones]"""
    producer_id_set = 5
    """The client was given a producer id. [producer_id, producer_epoch]"""
    to_abortable = 6
    """The client's transaction manager went into its abortable error state. [error: exception class, detail: text]"""
    to_fatal = 7
    """The same for the fatal state. [error: exception class, detail: text]"""
    abort_called = 8
    """abortTransaction was called (`Aborting incomplete transaction`, clients 2.6+; other clients' own words).

    [detail: what the application logged on the line before]
    """
    abort_on_close = 9
    """close() aborts an open transaction (`... due to shutdown`)."""
    client_closing = 10
    """close() was called. [number: timeout in ms]"""
    force_closed = 11
    """close() gave up waiting. [number: timeout in ms]"""
    produce_retry = 12
    """A produce request failed and is retried. [topic, partition, error, correlation_id, number: attempts left]"""
    produce_failed = 13
    """A produce request failed for good. [topic, partition, error, correlation_id]"""
    batch_expired = 14
    """Records passed delivery.timeout.ms. [topic, partition, number: ms since creation, offset: records]"""
    batches_failed = 15
    """Unsent records were thrown away. [error, detail: text]"""
    sequence_reset = 16
    """Sequence numbers of a partition begin anew. [topic, partition, number: old sequence, offset: new sequence]"""
    idempotent_bump = 17
    """Acknowledgement missing, no batch in flight: the idempotent producer raises its epoch. [topic, partition,
    number: last acknowledged sequence, offset: next sequence]"""
    coordinator_found = 18
    """FindCoordinator answered. [node, detail: host:port, api: transaction or group]"""
    request_enqueued = 19
    """DEBUG: a transactional request was put in the queue. [api]"""
    await_timeout = 20
    """A blocking call gave up. [api: InitProducerId, EndTxn(true), EndTxn(false), ..., number: ms waited]"""
    failure = 21
    """A line that shows an exception and is no other kind. [error: class of the root cause, detail: its message, api:
    the client method that threw, where a frame or the text tells]"""
    unstable_offsets = 22
    """A consumer waits for transactional offsets. [topic, partition]"""
    poll_timeout = 23
    """The consumer left its group since poll() came too late (max.poll.interval.ms)."""
    group_lost = 24
    """A member lost its membership: generation, member id or instance. [error, detail]"""
    rebalance = 25
    """Partitions are assigned anew. [detail]"""
    client_state = 26
    """Another state change of a client's transaction manager. [detail: from -> to, api]"""
    commit_called = 27
    """commit was called, where a client says so (librdkafka, franz-go, Streams, ...)."""
    begin_called = 28
    """A transaction was begun, where a client says so."""
    fenced = 29
    """A client says it was fenced, in a line without an exception (librdkafka, franz-go, Streams). [error, detail]"""
    concurrent_transactions = 30
    """CONCURRENT_TRANSACTIONS was answered (librdkafka at the client, the coordinator's DEBUG line). [api]"""
    transaction_aged = 31
    """A framework says how old a transaction is that it takes up again. [number: ms, offset: its timeout in ms]"""
    init_returned = 32
    """initTransactions returned, in an application's own words."""
    # either side
    node_disconnected = 40
    """A connection that stood was lost. [node]"""
    connection_failed = 41
    """A connection could not be made. [node, detail: host:port]"""
    request_timed_out = 42
    """A request was not answered within request.timeout.ms. [node, api, correlation_id, number: ms]"""
    request_cancelled = 43
    """A request in flight was given up with its connection. [node, api, correlation_id, number: ms since creation]"""
    bootstrap_disconnected = 44
    """A bootstrap server was lost. [detail: host:port]"""
    time_told = 46
    """A line shows the time of its own writing in UTC, whatever zone its log prints. [number: ms]"""
    config_values = 45
    """`... values:` block begins. [detail: ProducerConfig, ConsumerConfig, KafkaConfig, ...]"""
    metadata_refused = 47
    """Brokers answered a client's question for the leaders of topics with errors. [detail: topics and errors]"""
    # answers of tools
    transaction_open = 50
    """A partition's producer state has an open transaction. [topic, partition, producer_id, producer_epoch,
    other_epoch: coordinator epoch, offset: its first, number: ms from its last write to the newest of the answer]"""
    hanging_found = 51
    """`find-hanging` names a transaction that no coordinator will end. [as transaction_open, number: its age in ms]"""
    position_told = 52
    """How far a reader is. [group, topic, partition, offset: its position, number: log end, detail: what tells it]"""
    leader_missing = 53
    """A partition has no leader. [topic, partition, detail: its ISR]"""
    id_unknown = 54
    """The coordinator does not know a transactional.id. [transactional_id]"""
    stable_offset_behind = 55
    """A metric says that the last stable offset is behind, or that transactions are late. [topic, partition, number,
    detail: the metric]"""
    records_read = 56
    """How many records a console consumer read. [topic, partition, number, detail: isolation level]"""
    replicas_missing = 57
    """A partition has a leader, and fewer replicas in sync than min.insync.replicas.

    [topic, partition, detail: ISR, number: replicas that it has, offset: min.insync.replicas]
    """
    # brokers
    initialized = 60
    """InitProducerId was granted. [transactional_id, producer_id, producer_epoch, partition: of __transaction_state]"""
    init_refused = 61
    """InitProducerId was answered with an error. [transactional_id, error]"""
    init_fenced = 62
    """InitProducerId of an old epoch was refused. [transactional_id, producer_epoch: asked, other_epoch: current]"""
    timeout_rollback = 63
    """The coordinator aborted a transaction that passed its timeout. [transactional_id]"""
    timeout_rollback_failed = 64
    """It tried to and could not. [transactional_id, error]"""
    bad_transition = 65
    """State and marker result don't fit. [transactional_id, detail: state, api: COMMIT or ABORT]"""
    marker_retry = 66
    """A marker could not be written and is tried again. [transactional_id, topic, partition, error, other_epoch]"""
    marker_given_up = 67
    """A marker was given up. [transactional_id, topic, partition, error]"""
    marker_skipped = 68
    """Partitions without a leader were skipped. [transactional_id, detail: the partitions]"""
    marker_repeated = 69
    """A marker came a second time. [producer_id, producer_epoch]"""
    stale_epoch = 70
    """A write with an old epoch was refused. [producer_id, topic, partition, offset, producer_epoch: of the write,
    other_epoch: the last seen]"""
    sequence_refused = 71
    """A write out of order was refused. [producer_id, topic, partition, offset, number: its sequence, other_epoch: -1,
    detail: the last sequence]"""
    zombie_coordinator = 72
    """A marker of an old coordinator was refused. [producer_id, topic, partition, offset, producer_epoch: coordinator
    epoch of the marker, other_epoch: the current one]"""
    unknown_producer = 73
    """The leader no longer knew a producer id. [producer_id, topic, partition]"""
    verification_failed = 74
    """A partition could not be shown to belong to the transaction. [transactional_id, producer_id, topic, partition,
    error]"""
    unsupported_format = 75
    """Transactional records for a log in an old message format. [topic, partition, number: magic]"""
    coordinator_elected = 76
    """[partition: of __transaction_state, other_epoch: leader epoch]"""
    coordinator_resigned = 77
    """[partition: of __transaction_state, other_epoch: leader epoch]"""
    coordinator_loading = 78
    """[partition: of __transaction_state]"""
    coordinator_loaded = 79
    """[partition: of __transaction_state, number: ms]"""
    coordinator_load_failed = 80
    """[partition: of __transaction_state, error]"""
    state_append_failed = 81
    """A row of __transaction_state could not be written. [transactional_id, error, detail: the transition]"""
    not_coordinator = 82
    """A coordinator found out it is none any more. [transactional_id, other_epoch]"""
    isr_shrunk = 83
    """[topic, partition, detail: from -> to]"""
    isr_expanded = 84
    """[topic, partition, detail: from -> to]"""
    append_refused = 85
    """A leader refused an append. [topic, partition, error: exception class, detail: its message]"""
    broker_fenced = 86
    """The controller fenced a broker, or its session expired. [node]"""
    broker_unfenced = 87
    """[node]"""
    broker_starting = 88
    """[node]"""
    broker_started = 89
    """[node]"""
    broker_stopping = 90
    """[node]"""
    broker_stopped = 91
    """[node]"""
    unclean_start = 92
    """Logs are recovered after a hard stop."""
    storage_failed = 93
    """A log directory failed, or no descriptor, port or space was left. [detail, api: halt where the broker stops]"""
    log_truncated = 94
    """A log's end was thrown away. [topic, partition, offset]"""
    unclean_election = 95
    """A leader was elected outside the ISR. [topic, partition]"""
    leader_changed = 96
    """[topic, partition, node: leader, other_epoch: leader epoch]"""
    cleaner_stopped = 97
    """The log cleaner died or gave a partition up. [topic, partition, detail]"""
    member_removed = 98
    """The group coordinator removed or refused a member. [group, detail]"""
    request_seen = 99
    """The request logger. [api, client_id, transactional_id, producer_id, producer_epoch, error, correlation_id,
    detail: the client's address, number: 1 for EndTxn that commits, 0 for one that aborts]"""
    feature_changed = 100
    """A feature level changed (transaction.version). [detail]"""
    fetch_failed = 101
    """A follower could not fetch from its leader. [node: the leader, topic, partition, offset, error, detail]"""
    marker_waiting = 102
    """Markers wait for a leader. [partition: of __transaction_state, node: -1 where there is none, transactional_id]"""
    marker_resent = 103
    """Markers of a decided transaction are sent again after loading. [partition: of __transaction_state, detail]"""
    end_refused = 104
    """EndTxn was answered with an error. [transactional_id, error, api: COMMIT or ABORT, other_epoch, detail: how far
    it got]"""
    add_refused = 105
    """AddPartitionsToTxn was answered with an error. [transactional_id, error]"""
    transaction_mixed = 106
    """A plain batch came within an open transaction of its producer. [producer_id, topic, partition, offset]"""
    coordinator_inconsistent = 107
    """The coordinator found what should not be. [transactional_id, producer_id, detail]"""
    expiry_failed = 108
    """The tombstone of an expired transactional.id could not be written. [transactional_id, error, producer_epoch,
    other_epoch: coordinator epoch]"""
    transaction_transition = 109
    """The coordinator's state machine moved (DEBUG). [transactional_id, detail: the new state, api: prepare, write or
    complete]"""
    isr_changed = 110
    """The leader learned of a new ISR. [topic, partition, detail: the ISR]"""
    log_start_moved = 111
    """[topic, partition, offset: the new log start, detail: why]"""
    log_damaged = 112
    """Damage was met, cut away or an index rebuilt. [topic, partition, offset, detail, error: where a read failed]"""
    ids_allocated = 113
    """A broker took a block of producer ids. [detail: the block]"""
    id_allocation_failed = 114
    """A broker could not get producer ids. [error]"""
    mixed_commits = 115
    """A group has plain and transactional offset commits. [group]"""
    too_few_brokers = 116
    """__transaction_state can't be created. [number: brokers alive, offset: brokers needed]"""
    log_not_truncated = 117
    """A follower was to truncate and had nothing to throw away. [topic, partition, offset, number: log end]"""
    group_rebalanced = 118
    """The group coordinator rebalances a group. [group, other_epoch: its generation, detail: why]"""
    broker_release = 119
    """A broker names its release. [node, detail: the release]"""
    truncation_asked = 120
    """A follower begins where its leader's log agrees with its own; mostly nothing stands behind. [topic, partition,
    offset, detail]"""
    controller_changed = 121
    """A controller took over. [node, other_epoch: controller epoch]"""
    broker_failed = 122
    """The controller (with ZooKeeper) saw brokers go. [detail: the brokers]"""
    session_expired = 123
    """A session with ZooKeeper expired: the broker's own, or one that ZooKeeper gave up. [detail, number: ms]"""
    ids_went_back = 124
    """A block of producer ids that was given out before. [detail]"""
    epochs_exhausted = 125
    """The coordinator could not raise the epoch of a producer id any more. [producer_id]"""
    segment_expired = 58
    """Retention deleted a segment. [topic, partition, api: the setting, number: its value, detail: what it went by]"""
    partition_registered = 59
    """The controller noted a partition's replicas, or that they change. [topic, partition, detail: replicas]"""
    spoken = 126
    """A line speaks of a failure of Kafka in words that the catalogue does not have: short texts only. [detail: it]"""
    producer_dropped = 128
    """A leader dropped the state of an idle producer, or took a batch without it: it refused nothing. [producer_id,
    producer_epoch, api: accepted where a batch came]"""
    other = 127
    """A line of the catalogue that no rule asks for yet. [detail: the template]"""


KINDS = {kind.value: kind for kind in EventKind}
"""Kinds of events by their numbers."""
