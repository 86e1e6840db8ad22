"""The Arrow schemas of the tables, and nothing else."""
