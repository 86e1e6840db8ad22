"""docs/cookbook.md: by exception, what one sees, what it may be, what to collect and the command; from the catalogue.

An error of the protocol is told with what each client library makes of its code. Rules stand in the catalogue's order,
the commonest first; what decides between them is what findings ask for (words/asked.py).
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from kafkatx.rules.docstring import rule_texts
from kafkatx.terms.catalogue.entries import JAVA_CLIENTS, ClientException, LogTemplate, ProtocolError, plain_name
from kafkatx.terms.catalogue.loading import client_exceptions, client_log_templates
from kafkatx.terms.catalogue.lookup import by_name
from kafkatx.words.asked import DECIDES, Ask, Asked, AskFacts, asked
from tests.house.placeholders import APP_LOG, DIRECTORY, SERVER_LOG, SERVER_PROPERTIES, TOOL_ANSWER, TXID

Meant = ProtocolError | ClientException | LogTemplate

MOST_ASKED = 4
"""Kinds of evidence that a recipe asks for: the first ones decide most."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """One exception: its name in the catalogue, and what else tells which of its meanings is meant.

    `about` leaves only rows that name this rule, for classes of many meanings; `text` is a message of Kafka's that is
    looked up as well; `asks` is what to ask `explain` for where the name alone means too much.
    """

    name: str
    about: str | None = None
    text: str | None = None
    asks: str | None = None
    title: str | None = None


RECIPES = (
    Recipe("ProducerFencedException"),
    Recipe("InvalidProducerEpochException"),
    Recipe(
        "TimeoutException",
        about="commit_outcome_unknown",
        asks="Timeout expired after 60000ms while awaiting EndTxn(true)",
        title="TimeoutException of commit or abort",
    ),
    Recipe(
        "TimeoutException",
        about="unresolved_sequence",
        asks="Expiring 3 record(s) for orders-0:120000 ms has passed since batch creation",
        title="TimeoutException of a batch",
    ),
    Recipe("TransactionAbortedException", text="Failing batch since transaction was aborted"),
    Recipe("TransactionAbortableException"),
    Recipe(
        "KafkaException",
        about="abort_after_fatal_error",
        asks="Cannot execute transactional method because we are in an error state",
        title="KafkaException: in an error state",
    ),
    Recipe(
        "KafkaException",
        about="unresolved_sequence",
        asks="The client hasn't received acknowledgment for some previously sent messages and can no longer retry "
        "them. It isn't safe to continue.",
        title="KafkaException: no acknowledgment",
    ),
    Recipe(
        "IllegalStateException",
        about="shared_producer",
        asks="TransactionalId billing-1: Invalid transition attempted from state READY to state COMMITTING_TRANSACTION",
        title="IllegalStateException: invalid transition",
    ),
    Recipe("OutOfOrderSequenceException"),
    Recipe("UnknownProducerIdException"),
    Recipe("DuplicateSequenceException"),
    Recipe("InvalidPidMappingException"),
    Recipe("InvalidTxnStateException"),
    Recipe("ConcurrentTransactionsException"),
    Recipe("InvalidTxnTimeoutException"),
    Recipe("TransactionalIdAuthorizationException"),
    Recipe("CommitFailedException"),
    Recipe("UnstableOffsetCommitException"),
    Recipe("NotEnoughReplicasException"),
    Recipe("CoordinatorNotAvailableException"),
    Recipe("CoordinatorLoadInProgressException"),
    Recipe("TransactionCoordinatorFencedException"),
    Recipe("KafkaStorageException"),
    Recipe("TaskMigratedException", title="TaskMigratedException (Kafka Streams)"),
    Recipe("TaskCorruptedException", title="TaskCorruptedException (Kafka Streams)"),
    Recipe("CannotCreateTransactionException", title="CannotCreateTransactionException (Spring)"),
    Recipe("_FENCED", title="_FENCED (librdkafka)"),
    Recipe("_STATE", title="_STATE (librdkafka)"),
    Recipe("_TIMED_OUT", title="_TIMED_OUT (librdkafka)"),
    Recipe("_MSG_TIMED_OUT", title="_MSG_TIMED_OUT (librdkafka)"),
    Recipe("_GAPLESS_GUARANTEE", title="_GAPLESS_GUARANTEE (librdkafka)"),
    Recipe("_PURGE_QUEUE", title="_PURGE_QUEUE and _PURGE_INFLIGHT (librdkafka)"),
    Recipe("KafkaJSNumberOfRetriesExceeded", title="KafkaJSNumberOfRetriesExceeded (KafkaJS)"),
    Recipe("ErrTransitionNotAllowed", title="ErrTransitionNotAllowed (sarama)"),
    Recipe("errUnconfirmedCommit", title="errUnconfirmedCommit (franz-go)"),
)
"""What people meet most: fences and timeouts first, then other errors of the protocol, then those of single clients."""

GIVEN = {
    Ask.state_rows: DIRECTORY,
    Ask.coordinator_log: SERVER_LOG,
    Ask.other_instances: APP_LOG,
    Ask.client_log: APP_LOG,
    Ask.client_settings: SERVER_PROPERTIES,
    Ask.describe: TOOL_ANSWER,
    Ask.describe_producers: TOOL_ANSWER,
    Ask.find_hanging: TOOL_ANSWER,
    Ask.partition_dump: DIRECTORY,
    Ask.leader_log: SERVER_LOG,
    Ask.broker_logs: SERVER_LOG,
    Ask.consumer_log: APP_LOG,
}
"""What the evidence of each kind is called where it is given to kafkatx."""

INTRODUCTION = f"""\
# Cookbook: from an exception to its cause

Look for what your log shows. Each entry has what it is, by client library; what it may be, the commonest first; the
evidence that decides, and the commands. Words in capitals and `{SERVER_LOG}`, `{APP_LOG}` stand for yours; any part of
what is named will do, in any order. With nothing but the error itself, paste it: `kafkatx diagnose -` reads standard
input.

An exception is what a client noticed last. Look for the first one of its log: `kafkatx diagnose {APP_LOG}` names it.
"""


def cookbook_page() -> str:
    """Return the page."""
    recipes = "\n".join(map(_recipe, RECIPES))
    return f"{INTRODUCTION}\n{recipes}\n{_evidence_section()}"


def named_by(recipe: Recipe) -> list[Meant]:
    """Return what the catalogue has under the name or the text of a recipe."""
    named = [entry for entry in by_name(recipe.name) if isinstance(entry, ProtocolError | ClientException)]
    texts = [entry for entry in client_log_templates() if entry.template == recipe.text]
    return [entry for entry in (*named, *texts) if recipe.about is None or recipe.about in entry.rules]


def elsewhere(named: Sequence[Meant]) -> list[ClientException]:
    """Return what other libraries make of the errors among `named`."""
    codes = {entry.code for entry in named if isinstance(entry, ProtocolError)}
    others = (entry for entry in client_exceptions() if entry.client not in JAVA_CLIENTS)
    return [entry for entry in others if codes & set(entry.codes) and entry not in named]


def rules_of(entries: Iterable[Meant]) -> list[str]:
    """Return the rules that entries name, those of the first entries first."""
    return list(dict.fromkeys(rule for entry in entries for rule in entry.rules))


def kinds_of(rules: Iterable[str]) -> list[Ask]:
    """Return what decides between rules: what decides most of them first."""
    places = [(place, number, kind) for number, rule in enumerate(rules) for place, kind in enumerate(DECIDES[rule])]
    return list(dict.fromkeys(kind for _, _, kind in sorted(places, key=lambda one: one[:2])))[:MOST_ASKED]


def _recipe(recipe: Recipe) -> str:
    named = named_by(recipe)
    entries = [*named, *elsewhere(named)]
    rules = rules_of(entries)
    may_be = "".join(
        f"{number}. [{rule}](rules/{rule}.md): {_summaries()[rule]}\n" for number, rule in enumerate(rules, 1)
    )
    kinds = kinds_of(rules)
    collect = "".join(f"- [{_asked(kind).what}](#{_anchor(kind)})\n" for kind in kinds)
    given = " ".join(dict.fromkeys(GIVEN[kind] for kind in kinds))
    return (
        f"## {recipe.title or recipe.name}\n\n{_meaning(named)}\n\n{_seen(entries)}"
        f"It may be:\n\n{may_be}\nCollect, the best first:\n\n{collect}\n"
        f"```sh\nkafkatx explain {_word(recipe)}\nkafkatx diagnose {given}\n```\n"
    )


def _word(recipe: Recipe) -> str:
    """What to ask `explain` for."""
    words = recipe.asks or recipe.text
    return recipe.name if words is None else f'"{words}"'


def _meaning(entries: Iterable[Meant]) -> str:
    """What it means, each meaning once."""
    meanings = dict.fromkeys(entry.meaning for entry in entries)
    first, *more = meanings
    if not more:
        return f"{first[:1].upper()}{first[1:].rstrip('.')}."
    return "It means:\n\n" + "\n".join(f"- {meaning}" for meaning in meanings)


def _seen(entries: Iterable[Meant]) -> str:
    """A table of what each client shows and what its application must do."""
    rows = "".join(dict.fromkeys(_row(entry) for entry in entries if isinstance(entry, ClientException)))
    return f"| client | shows | the application must |\n| --- | --- | --- |\n{rows}\n" if rows else ""


def _row(entry: ClientException) -> str:
    names = ", ".join(f"`{plain_name(name)}`" for name in entry.exceptions)
    messages = "".join(f"<br>`{message}`" for message in entry.messages)
    must = f"{entry.category}: {entry.application_must}" if entry.application_must else entry.category
    return f"| {entry.client} {entry.span} | {_cell(names + messages)} | {_cell(must)} |\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


@cache
def _summaries() -> dict[str, str]:
    return {text.rule_id: text.summary for text in rule_texts()}


def _asked(kind: Ask) -> Asked:
    """What is said of a kind of evidence, of nobody in particular."""
    facts = AskFacts(TXID, None, "TOPIC", "N", "N", None, is_counted=True)  # type: ignore[arg-type]
    found = asked(kind, facts)
    assert found is not None
    return found


def _anchor(kind: Ask) -> str:
    return kind.name.replace("_", "-")


def _evidence_section() -> str:
    parts = ["## Evidence, and the commands that get it\n"]
    parts.append("`$LOG_DIR` is a broker's log.dirs, `$BOOTSTRAP` the address of a broker.\n")
    return "\n".join([*parts, *_evidence()])


def _evidence() -> Iterator[str]:
    for kind in Ask:
        found = _asked(kind)
        what = f"{found.what[:1].upper()}{found.what[1:]}"
        yield f"### {kind.name.replace('_', ' ')}\n\n{what}: {found.why}. From: {found.where}.\n"
        yield f"```sh\n{found.command}\n```\n"
