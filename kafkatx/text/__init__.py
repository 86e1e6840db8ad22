"""Text to rows: dump output, console and admin tools, logs of clients and brokers, settings.

Ground    lines, textual, remembered, told_lines: a text's lines, which of them may tell something, and what of them is
          asked again; events: what a reader of logs yields.
Cut       pages/ parts a text into the stretches that one tool wrote, by the lines of printed/.
Read      dump/ and tools/ read parts to rows, logs/ reads logs to events, settings/ settings; error_messages/ says what
          a message means beside the name of its error.
Pages     whole_pages, framed_pages: small texts that somebody wrote, looked at whole; prose/ reads what he says;
          connect_status, releases_told, products: what else a page tells of who runs and wrote what.
"""
