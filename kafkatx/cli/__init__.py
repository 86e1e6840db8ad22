"""The typer commands: options, exit codes, no logic.

Commands   collect, compare, diagnose, dump, explain, export, history, locate, report, verify: a file each;
           export_spark, dump_tool: a second way; words: all sentences, for editors.
Program    app, program: commands by name, exit codes; command, manual, help, completion: what all have in common.
Options    options, grouping, coercion, engines; usage_errors: what is refused; saved: diagnoses among paths.
Results    destination, streams: where they are written; progress: the bar.
"""
