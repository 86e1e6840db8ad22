"""Logs of clients and brokers: what a line is, what it says, what stands under it.

Read      reading: a log to events, by windows of bounded memory; entries: which lines belong together (entry_shapes,
          below); writers: whose they are; strings, union: what events point to, numbered; thinning: repetitions.
Short     page_lines: pasting undone; telling: which lines are asked; shown, said_before, spoken, signs: what else they
          tell; tables of frames without a message: foreign_frames, frame_lines.
Frame     framing: time, level, logger and message of a line, by layouts, wrappers, json_lines, fronts and around;
          stamps, printed_times: times; contexts: a client's brackets.
Meaning   meaning: one event of an entry; matching: by the catalogue's texts (tables), whole; fragments: cut, or amid
          other words; retyped: typed off a screen; filling, filled, columns: an event's columns; requests: the request
          log; calls: the method.
Errors    exceptions: of one line; spelled: by their words; traces: of many lines (traced); error_names: pieces of
          patterns; end_of_reading: what is none; defect_texts: texts of known defects.
Long      alike, repeated: lines and entries of a kind are read once.
Talk      bare, talk, sentences, suppositions, source_code: whether a line tells something or speaks of any case.
"""
