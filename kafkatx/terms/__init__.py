"""Kafka's enumerations, limits by release, clocks and names; our errors. Imports nothing of ours.

Kafka     catalogue/: tables of texts, errors, settings, defects; error_codes, transaction_states, topics, clocks: names
          and defaults; events: what a line of a log can tell; java_text: texts as Java reads them.
Words     verdicts, times, printable, nearest; secrets: what is shown nowhere; errors: our exceptions.
Start-up  records, regex: classes and patterns that cost nothing until used; held_literals: what a match must hold;
          kept, in kept_files: kept_modules, kept_patterns, kept_tables; packaged: what the package carries.
Watching  progress.
"""
