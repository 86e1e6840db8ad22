"""Tables of a diagnosis: findings, and the places that they rest on."""

from __future__ import annotations

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
        Column("count", INT64, "how many times"),
        Column("summary", STRING, "one sentence"),
        Column("actors", struct_list(name=STRING, what=STRING), "who is meant"),
        Column("steps", struct_list(text=STRING, because=STRING), "the explanation, step by step"),
        Column("considered", struct_list(rule=STRING, because=STRING), "explanations that were refuted, and by what"),
        Column("remedies", struct_list(text=STRING, applies_to=STRING, command=STRING, cost=STRING), "what to do"),
        Column("caused_by", STRING, "id of the finding that caused it", null="none did"),
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
