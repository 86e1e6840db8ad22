"""Tables written as Parquet for others: sorted, atomic, resumable, the same bytes each time."""
