-- Each fact of `log_events` once: of all copies and runs the row that stands.
SELECT capture, cluster_id, broker_id, path, position, line, event_time, clock, side, level, kind, client_id,
       transactional_id, group_id, thread, logger, exception, error_code, api, correlation_id, node, topic,
       partition, record_offset, producer_id, producer_epoch, detail, text, occurrence, run_id, exported_at
FROM (
    SELECT *, rank() OVER (
        PARTITION BY event_time, capture, client_id, thread, text, occurrence
        ORDER BY exported_at DESC, run_id DESC
    ) AS place_among_runs
    FROM log_events
    WHERE is_canonical
) AS ranked
WHERE place_among_runs = 1
