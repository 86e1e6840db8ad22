"""Causes that fit a failure which this evidence leaves open: which ones, in which order, and what is said of each."""
