"""From result objects to text, JSON, pages and tables.

Diagnosis  answer: its first line; diagnosis_text, diagnosis_json, diagnosis_order, diagnosis_end,
           diagnosis_words; page/.
Commands   history_answer, history_chart, history_json, history_text, history_words; locate_json, locate_text,
           locate_words; verify_json, verify_text; collect_json, collect_text; comparing/: `compare`.
Explain    explain_word: what a word means; explanations: what is told of it; explain_text.
Dump       dump, by dump_options: dump_log, dump_entries, dump_indexes: files; dump_lines, dump_objects: as lines or as
           JSON; dump_blocks, dump_columns: many at once; dump_control, dump_decoders, dump_remote_log, dump_json: what
           records say.
Tables     parquet/: exports.
Shared     text_lines, json_document, chart_words.
"""
