-- Each fact of `cluster_events` once: of all copies and runs the row that stands.
SELECT capture, cluster_id, broker_id, path, position, kind, event_time, record_offset, controller_epoch, is_snapshot,
       snapshot_offset, topic, topic_id, partition, leader, leader_epoch, partition_epoch, replicas, isr,
       node_id, broker_epoch, next_producer_id, feature, feature_level, resource_type, resource, config,
       config_value, record_version, fields, run_id, exported_at
FROM (
    SELECT *, rank() OVER (
        PARTITION BY kind, capture, event_time, is_snapshot, snapshot_offset, record_offset
        ORDER BY exported_at DESC, run_id DESC
    ) AS place_among_runs
    FROM cluster_events
    WHERE is_canonical
) AS ranked
WHERE place_among_runs = 1
