"""Lines as Kafka's tools print them, of every release: their shapes and fields, and what pasting did to them undone."""
