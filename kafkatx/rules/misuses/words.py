"""What the rule says of each kind of call in a wrong state: its title, its summary, and what to do."""

from __future__ import annotations

from kafkatx.text.error_messages.misuses import MisuseKind
from kafkatx.words.template import pick

WHO = "[ of {client.transactional_id}]"
ENDING = pick("state", {"COMMITTING_TRANSACTION": "commit", "ABORTING_TRANSACTION": "abort"}, "commit or abort")
ORDER = (
    "Keep the order: {init} once, then begin, send, one commit or abort. After an error abort before you begin again. "
    "If the program uses no transactions, remove transactional.id"
)
TITLE = pick(
    "kind",
    {
        MisuseKind.begun_inside: "a transaction begun inside another one",
        MisuseKind.not_begun: "{count:call} without an open transaction",
        MisuseKind.ended_before: "{count:call} after the end of the transaction",
        MisuseKind.not_initialised: "{count:call} before {init} was done",
        MisuseKind.initialised_twice: "{init} called twice",
        MisuseKind.closed: "{count:call} on a closed producer",
        MisuseKind.at_once: "two transactional calls at once",
        MisuseKind.unfinished: "{count:call} before the last one was finished",
        MisuseKind.while_ending: "{count:send} while the transaction was being ended",
        MisuseKind.prepared: "{count:call} after the transaction was prepared",
        MisuseKind.not_polled: "delivery reports not polled before the commit",
    },
    (
        pick("called", {None: "{count:call}"}, "{called}"),
        pick("call", {"send": " refused: no open transaction", None: " in a wrong state"}, " refused: wrong state"),
    ),
)
"""What was called, in short."""
SUMMARY = pick(
    "kind",
    {
        MisuseKind.begun_inside: f"The application{WHO} began a transaction while another one was open. The client "
        "refused the call; no broker was asked.",
        MisuseKind.not_begun: pick(
            "begun",
            {
                (): f"The application{WHO} made {{count:transactional call}} while no transaction was open. The "
                "client refused; no broker was asked."
            },
            f"The application{WHO} probably ended a transaction in which nothing was sent. The client refused, "
            "since it counted none as begun; no broker was asked.",
        ),
        MisuseKind.ended_before: f"The application{WHO} went on with a transaction that it had already ended. The "
        "client refused the call.",
        MisuseKind.not_initialised: pick(
            "awaits_id",
            {
                True: f"The application{WHO} went on before {{init}} had come back: the producer had asked for its "
                "producer id and had none yet. The client refused the call."
            },
            f"The application{WHO} used a transactional producer before {{init}} had been completed. The client "
            "refused the call.",
        ),
        MisuseKind.initialised_twice: f"The application{WHO} called {{init}} a second time. The client "
        "refused the call.",
        MisuseKind.closed: f"The application{WHO} used a producer after it had been closed. The client refused the "
        "call.",
        MisuseKind.at_once: f"The application{WHO} made a transactional call while another one was still running. "
        "The client refused the second call.",
        MisuseKind.unfinished: f"The application{WHO} made {{count:transactional call}} before the last one was "
        "finished[: that one {perhaps} ran in another thread, or had timed out and was not called again]. The "
        "client refused; no broker was asked.",
        MisuseKind.while_ending: (
            f"The application{WHO}[ {{perhaps}}] went on sending while its ",
            ENDING,
            " was under way. The client refused the call; no broker was asked.",
        ),
        MisuseKind.prepared: f"The application{WHO} made {{count:call}} in a transaction that it had prepared for "
        "two-phase commit. Only its end is allowed then; the client refused, no broker was asked.",
        MisuseKind.not_polled: f"{{commit}}{WHO} waited for delivery reports. The application[ {{perhaps}}] "
        "did not take them from the event queue. Nothing was sent to the coordinator; nothing is committed.",
        MisuseKind.unnamed: f"The application{WHO} made {{count:call}} that the producer's state does not allow[: "
        "{perhaps} outside of a transaction]. The client refused; no broker was asked.",
    },
    f"The application{WHO} made {{count:call}} that the producer's state does not allow. The client refused; no "
    "broker was asked.",
)
"""What happened, in a sentence."""
REMEDY = pick(
    "kind",
    {
        MisuseKind.begun_inside: "End every transaction before the next one: commit it, and call {abort} "
        "in the error path. Use each producer in one thread only",
        MisuseKind.not_begun: "Call {begin} before the first send, and commit or abort exactly once: not "
        "again in a finally block or a second handler",
        MisuseKind.ended_before: "Send inside the transaction, await all sends, then commit or abort once",
        MisuseKind.not_initialised: pick(
            "awaits_id",
            {
                True: "Go on only when {init} has returned, and call it again where it timed out. If it never "
                "returns, look first why the coordinator gives no producer id"
            },
            "Call {init} once after the producer is made, and wait for it. If the program uses no transactions, remove "
            "transactional.id from its configuration",
        ),
        MisuseKind.initialised_twice: "Call {init} once in the life of a producer. After a fatal error "
        "make a new producer instead",
        MisuseKind.closed: "Make a new producer after closing one, and stop its users before close()",
        MisuseKind.prepared: "After prepareTransaction call only {commit}, {abort} or completeTransaction; what "
        "belongs to the transaction comes before",
        MisuseKind.not_polled: "Read the delivery reports in a thread of its own (Go: range over Events()) "
        "or turn them off. Then make the same call again, or abort",
        MisuseKind.while_ending: (
            "Wait for the ",
            ENDING,
            " before the next send: begin a new transaction when it has returned (reactive code: concat "
            "the steps, never merge them). Use each producer in one thread",
        ),
        MisuseKind.unfinished: "Where a call timed out, call the same again until it returns or fails for "
        "good: no other one before that, also in the error path. Use each producer in one thread",
        MisuseKind.at_once: pick(
            "has_threads",
            {True: "Let one thread make all transactional calls, and wait for each of them"},
            "Run one transaction of a producer at a time: await it before the next request begins one, or "
            "give each a producer with a transactional.id of its own",
        ),
    },
    pick(
        "earlier",
        {(): ORDER},
        "Look at the result of each send, and call {abort} where one failed: only then {begin} works again",
    ),
)
"""How the calls have to be made."""
