-- Which broker was given which block of producer ids, when, and how many ids of it does the coordinator's log name?
SELECT b.capture, b.event_time, b.node_id, b.first_id, b.last_id, count(DISTINCT s.producer_id) AS ids_named
FROM (
    SELECT capture, event_time, node_id, next_producer_id - 1000 AS first_id, next_producer_id - 1 AS last_id
    FROM cluster_events_once
    WHERE kind = 'ProducerIdsRecord' AND NOT is_snapshot
) AS b
LEFT JOIN transaction_states_once AS s
    ON s.capture = b.capture AND s.producer_id BETWEEN b.first_id AND b.last_id
GROUP BY b.capture, b.event_time, b.node_id, b.first_id, b.last_id
