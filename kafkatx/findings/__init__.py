"""What a finding is, what a rule is, and what rules share: groups of ends, clients' lines, causes."""
