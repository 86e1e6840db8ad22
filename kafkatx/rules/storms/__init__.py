"""Requests that were answered CONCURRENT_TRANSACTIONS until their caller gave up."""
