"""One file a rule: the tables of its grain in, findings out. Pure."""
