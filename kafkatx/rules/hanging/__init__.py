"""Data that nobody will end: whether the evidence reaches that far, and what the live cluster is asked."""
