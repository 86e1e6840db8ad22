"""Output of kafka-dump-log, of every release and however it was pasted, to the rows that the bytes give."""
