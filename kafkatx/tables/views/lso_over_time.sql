-- Where did the last stable offset of a partition stand, from when to when, and whose transaction held it there?
-- A row is a stretch of time in which one transaction held it; without an id the coordinator knows of none.
SELECT h.capture, h.topic, h.partition, h.first_offset AS last_stable_offset, h.held_from, h.held_to,
       unix_millis(h.held_to) - unix_millis(h.held_from) AS held_ms, h.marker_offset IS NULL AS still, h.producer_id,
       t.transactional_id
FROM (
    SELECT s.capture, s.topic, s.partition, s.producer_id, s.first_offset, s.marker_offset,
           coalesce(s.marked_at, c.evidence_end) AS held_to,
           greatest(s.first_time, max(coalesce(s.marked_at, c.evidence_end)) OVER (
               PARTITION BY s.capture, s.topic, s.partition ORDER BY s.first_offset
               ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
           )) AS held_from
    FROM spans_of_producers AS s
    JOIN captures_once AS c ON c.capture = s.capture
) AS h
LEFT JOIN parts_of_transactions AS t
    ON t.capture = h.capture AND t.topic = h.topic AND t.partition = h.partition AND t.first_offset = h.first_offset
WHERE h.held_to > h.held_from
