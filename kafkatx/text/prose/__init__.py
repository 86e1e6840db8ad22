"""What people write around what programs printed: sentences that say something of a failure.

Beside    statements: what they say of how something is used, which may decide between two causes.
Instead   named_errors: errors that they name and symptoms that they describe, where no program shows any; then
          reported_errors: an error that one sentence explains and the next one met; spoken_cases: that something
          failed, in words that nobody foresaw; spoken_traits: who failed, in doing what, when, and how it ended.
"""
