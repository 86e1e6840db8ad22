"""What the program is called, and how its commands end."""

PROGRAM = "kafkatx"
GENERAL = "General options"
"""Heading of what every command takes."""

EXIT_CODES = {
    0: "done, also when there are findings and --fail-on is never",
    1: "a finding at or above --fail-on; for compare one that is new, came back or got worse; for verify damage",
    2: "wrong usage",
    3: "nothing readable in what was given",
    4: "the output could not be written",
    5: "the engine or its cluster failed: file, stage and worker are named where they are known",
    70: "a bug of kafkatx itself: one line, the rest with --debug",
    130: "interrupted",
}
"""What each exit code means, in the order in which they are listed."""
