"""The typer commands: options, exit codes, no logic."""
