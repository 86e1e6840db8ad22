"""Transactions that ended in two ways: whether the evidence reaches far enough to say so."""
