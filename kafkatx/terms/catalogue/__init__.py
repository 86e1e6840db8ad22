"""The catalogue: Kafka's error codes, exceptions, log texts, settings and transaction states, by release.

Facts only, as package data; what they mean for a diagnosis is the business of the rules that they name. `by_name`
finds an entry, `match_line` recognises a pasted log line, `containing` and `close_words` help where neither does.
"""
