"""Epochs of producer ids: what uses them up, and what replaces a producer id then."""
