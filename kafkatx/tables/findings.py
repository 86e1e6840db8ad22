"""Tables of a diagnosis: findings, and the places that they rest on."""

from __future__ import annotations

import pyarrow as pa

from kafkatx.tables.columns import (
    BOOL,
    COMMON,
    INT16,
    INT32,
    INT64,
    PLACED,
    STRING,
    TIME,
    Column,
    Example,
    Identity,
    SortOrder,
    Table,
    struct_list,
)

NUMBERS = pa.list_(INT32)
"""Numbers of rows of another table."""

FINDINGS = Table(
    "findings",
    "a finding; path and broker_id are null, its places stand in `evidence`",
    (
        *COMMON,
        Column("id", STRING, "stable id: the same evidence gives the same"),
        Column(
            "key",
            STRING,
            "the incident: cluster, rule, id or partition, producer id and epoch, transaction; stays where evidence is "
            "lost or added",
        ),
        Column("rule", STRING, "the rule that found it"),
        Column("verdict", STRING, "proved, likely, possible"),
        Column("severity", STRING, "error, warning, info"),
        Column("transactional_id", STRING, "transactional.id", null="of several, or of none"),
        Column("producer_id", INT64, "producer id", null="of several, or of none"),
        Column("producer_epoch", INT16, "producer epoch", null="of several, or of none"),
        Column("topic", STRING, "topic", null="of several, or of none"),
        Column("partition", INT32, "partition", null="of several, or of none"),
        Column("first_offset", INT64, "first offset it is about", null="of no one partition"),
        Column("last_offset", INT64, "last offset it is about", null="of no one partition"),
        Column("valid_from", TIME, "when it began"),
        Column("valid_to", TIME, "when it ended, or the end of the evidence"),
        Column("has_zone", BOOL, "times are of a known zone; else they are as printed, taken for UTC"),
        Column("count", INT64, "how many times"),
        Column(
            "subjects",
            struct_list(
                transactional_id=STRING,
                producer_id=INT64,
                topic=STRING,
                partition=INT32,
                first_offset=INT64,
                last_offset=INT64,
            ),
            "whom and what it is about: of many the first, the last and typical ones",
        ),
        Column("who", STRING, "whom the title is about", null="nobody alone"),
        Column("title", STRING, "what happened, in a few words"),
        Column("summary", STRING, "one sentence"),
        Column("actors", struct_list(name=STRING, what=STRING), "who is meant"),
        Column(
            "steps",
            struct_list(text=STRING, because=STRING, evidence=NUMBERS),
            "the explanation, step by step; `evidence` are numbers of its rows in `evidence`",
        ),
        Column(
            "considered",
            struct_list(rule=STRING, because=STRING, refuted=BOOL, decided_by=STRING, evidence=NUMBERS),
            "other explanations: refuted, and by what, or left open, and what would decide",
        ),
        Column("caused_by", STRING, "id of the finding that caused it", null="none did"),
        Column("contributing", pa.list_(STRING), "ids of findings that had a part in it"),
        Column(
            "remedies",
            struct_list(
                text=STRING,
                applies_to=STRING,
                config=STRING,
                current=STRING,
                proposed=STRING,
                derived_from=STRING,
                command=STRING,
                cost=STRING,
                restart_needed=BOOL,
            ),
            "what to do; of a setting its value now, the one proposed, and what that follows from",
        ),
        Column("facts", STRING, "the values that its sentences are made of, as JSON, by rule"),
        Column(
            "candidates",
            struct_list(rule=STRING, speaks_for=STRING, against=STRING, decided_by=NUMBERS),
            "what may be behind it while that is open; `decided_by` are numbers of its capture's rows in `next`",
        ),
    ),
    SortOrder(
        ("rule", "capture", "key", "valid_from", "id"),
        "most questions are about one rule, over all captures",
    ),
    Example(
        "Where was somebody fenced, and when?",
        """\
SELECT f.capture, f.valid_from, f.verdict, f.transactional_id, f.summary
FROM findings f
WHERE f.rule = 'fenced_by_new_instance'
ORDER BY f.valid_from""",
    ),
    Identity(("capture", "rule", "key"), day=("valid_to", "valid_from")),
)

EVIDENCE = Table(
    "evidence",
    "a place that a finding rests on; path and position say where it was found",
    (
        *PLACED,
        Column("finding_id", STRING, "id of the finding"),
        Column("number", INT32, "its number among the places of the finding, from 0"),
        Column("topic", STRING, "topic"),
        Column("partition", INT32, "partition"),
        Column("record_offset", INT64, "offset", field="offset"),
        Column("event_time", TIME, "its time", null="not known", field="at"),
        Column("text", STRING, "what stands there"),
        Column("line", INT64, "number of the line, from 1", null="no line of a text"),
        Column("is_against", BOOL, "speaks against the finding"),
        Column("crc_valid", BOOL, "whether the CRC of its batch is right", null="no file holds it, or an old format"),
    ),
    SortOrder(
        ("finding_id", "capture", "number"),
        "the question is what one finding rests on",
    ),
    Example(
        "What proves the findings of a rule?",
        """\
SELECT e.finding_id, e.number, e.path, e.position, e.text
FROM evidence e JOIN findings f ON f.id = e.finding_id AND f.capture = e.capture
WHERE f.rule = 'fenced_by_new_instance'
ORDER BY e.finding_id, e.number""",
    ),
    Identity(("capture", "finding_id", "number"), day=("event_time",)),
)

NOT_CHECKABLE = Table(
    "not_checkable",
    "a rule that could not look; path and broker_id are null",
    (
        *COMMON,
        Column("rule", STRING, "the rule"),
        Column("scope", STRING, "what it could not look at"),
        Column("missing", STRING, "what is missing"),
    ),
    SortOrder(
        ("rule", "capture", "scope", "missing"),
        "the question is whether the silence of a rule means anything",
    ),
    Example(
        "Of which clusters can nobody tell whether a producer failed in silence?",
        """\
SELECT n.capture, n.scope, n.missing
FROM not_checkable n
WHERE n.rule = 'silent_failure'
ORDER BY n.capture""",
    ),
    Identity(("capture", "rule", "scope", "missing")),
)

NEXT = Table(
    "next",
    "a thing to bring, which would decide what findings leave open; path and broker_id are null",
    (
        *COMMON,
        Column("number", INT32, "its number among those of the capture, from 0: the best first"),
        Column("what", STRING, "what it is"),
        Column("why", STRING, "why it would decide"),
        Column("place", STRING, "where it lies"),
        Column("command", STRING, "the command that gets it", null="none does"),
        Column("decides", pa.list_(STRING), "ids of the findings that it decides"),
    ),
    SortOrder(
        ("capture", "number"),
        "the question is what to bring of one cluster, the best first",
    ),
    Example(
        "What would decide what is open of a cluster?",
        """\
SELECT n.what, n.place, n.command
FROM next n
WHERE n.capture IS NOT NULL
ORDER BY n.number""",
    ),
    Identity(("capture", "what", "place")),
)
