"""Two diagnoses held against each other: what is new, gone, changed, and what that proves."""
