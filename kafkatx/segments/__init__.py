"""Files to rows: walk batches, resynchronise after damage, merge copies, indexes, snapshots, checkpoints."""
