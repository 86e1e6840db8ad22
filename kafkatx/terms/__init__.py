"""Kafka's enumerations, limits by release, clocks and names; our errors. Imports nothing of ours."""
