"""Instances that were fenced: what logs show of a takeover, refusals without one, and words of both."""
