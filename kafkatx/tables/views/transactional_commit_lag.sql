-- How far were groups behind when they committed offsets in transactions: offsets that lay in the log by then?
-- The log is taken by the times of its batches, markers too; null where none of the partition is at hand.
SELECT c.capture, c.group_id, c.topic, c.partition, c.committed_offset, c.committed_at, m.kind AS ended_as,
       max(b.last_offset) + 1 - c.committed_offset AS lag
FROM offset_commits_once AS c
LEFT JOIN batches_once AS b
    ON b.capture = c.capture AND b.topic = c.topic AND b.partition = c.partition
    AND b.max_timestamp <= coalesce(c.committed_at, c.timestamp)
LEFT JOIN (
    SELECT o.capture, o.offsets_partition, o.record_offset, min(k.record_offset) AS marker_offset
    FROM offset_commits_once AS o
    JOIN markers_once AS k
        ON k.capture = o.capture AND k.topic = '__consumer_offsets' AND k.partition = o.offsets_partition
        AND k.producer_id = o.producer_id AND k.record_offset > o.record_offset
    GROUP BY o.capture, o.offsets_partition, o.record_offset
) AS n ON n.capture = c.capture AND n.offsets_partition = c.offsets_partition AND n.record_offset = c.record_offset
LEFT JOIN markers_once AS m
    ON m.capture = c.capture AND m.topic = '__consumer_offsets' AND m.partition = c.offsets_partition
    AND m.record_offset = n.marker_offset
WHERE c.is_transactional AND NOT c.is_tombstone
GROUP BY c.capture, c.group_id, c.topic, c.partition, c.committed_offset, c.committed_at, c.timestamp,
         c.offsets_partition, c.record_offset, m.kind
