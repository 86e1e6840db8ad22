"""What tools told about a cluster at the moment of a call, as cases of the rules that it is evidence of."""
