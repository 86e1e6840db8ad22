-- What did logs say of an id within 10 seconds of an abort of its transaction?
SELECT t.capture, t.transactional_id, t.decided_at, t.ended_by, l.event_time,
       unix_millis(l.event_time) - unix_millis(t.decided_at) AS after_ms, l.side, l.kind, l.exception, l.error_code, l.path, l.line,
       l.text
FROM transactions_once AS t
JOIN log_events_once AS l
    ON l.capture = t.capture AND l.transactional_id = t.transactional_id
    AND unix_millis(l.event_time) BETWEEN unix_millis(t.decided_at) - 10000 AND unix_millis(t.decided_at) + 10000
WHERE t.outcome IN ('aborted', 'aborting')
