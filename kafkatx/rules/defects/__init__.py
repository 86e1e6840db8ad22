"""What the rules about known defects share: their facts, how they are found, and their words."""
