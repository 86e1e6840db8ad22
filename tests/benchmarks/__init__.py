"""Measurements against Kafka's own dump tool: generators, a runner, a report. Off by default (marker `benchmark`)."""
