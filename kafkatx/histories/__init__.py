"""From facts to models: instances, epochs, transactions, spans, log extents. Pure.

Model     capture_model: all that rules may look at, made by build of coordinator (initialisations) and
          partition_transactions, laid over each other by transaction_partitions (alignment, lost_ends) and summed up
          (sums).
Ends      transaction_ends: one table of how each transaction ended, made by endings (rows), data_endings (markers) and
          log_endings (lines); ended: one of its rows. logs/: what logs witnessed of it.
Asked     visibility, hiding_entries: what readers are given; sequence_breaks, slow_markers, coordinator_unavailability,
          frameworks: what else happened.
Clocks    skewed_clocks: of brokers; producers_clocks.
Counted   plain_rows, plain_data: which transactions need not be held; counted: what is told of those; extremes.
History   timeline, of timeline_rows, timeline_lines, timeline_events; events: its values; folding, overview: short;
          location, result: what `locate` and `history` answer; pictures/: what is drawn.
"""
