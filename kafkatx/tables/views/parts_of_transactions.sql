-- What did each transaction write to each partition?
SELECT capture, transactional_id, producer_id, started_at, decided_at, completed_at, outcome, ended_by,
       one.topic AS topic, one.partition AS partition, one.first_offset AS first_offset,
       one.last_offset AS last_offset, one.records AS records, one.marker_offset AS marker_offset
FROM (
    SELECT capture, transactional_id, producer_id, started_at, decided_at, completed_at, outcome, ended_by,
           explode(partitions) AS one
    FROM transactions_once
) AS parts
