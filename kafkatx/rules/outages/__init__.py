"""Brokers that were away: which outages are one incident, how sure it is and how bad."""
