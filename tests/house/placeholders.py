"""What words in commands of README.md and docs/ stand for, where the documents mean the reader's own.

Words in capitals are placeholders; so are a few names of files and paths that read better than capitals.
"""

DIRECTORY, SERVER_LOG, APP_LOG = "DIRECTORY", "server.log", "app.log"
SERVER_PROPERTIES, TOOL_ANSWER, TXID = "server.properties", "answers.txt", "TXID"

CASE = "fixtures/k39-fenced"
BROKER = f"{CASE}/broker-1"
_SEGMENT = f"{BROKER}/__transaction_state-0/00000000000000000000.log"
STAND_FOR = {
    DIRECTORY: BROKER,
    SERVER_LOG: f"{CASE}/logs/broker-1/server.log",
    APP_LOG: f"{CASE}/logs/client-payments-a.log",
    SERVER_PROPERTIES: "fixtures/answers/limit/config/server-1.properties",
    TOOL_ANSWER: "fixtures/answers/hanging/find-hanging-payments.txt",
    TXID: "payments-eu-1",
    "FILE": _SEGMENT,
    "SEGMENT": _SEGMENT,
    "SNAPSHOT": "fixtures/f-other-clients/broker-1/entries-0/00000000000000000030.snapshot",
    "TOPIC": "payments",
    "N": "1",
    "TOPIC-N": "payments-1",
    "TOPIC-PARTITION:OFFSET": "payments-0:3",
    "PATH...": BROKER,
    "BEFORE": CASE,
    "AFTER": CASE,
    "/data/kafka": BROKER,
    "/data/brokers/*": BROKER,
    "/var/lib/kafka/data": BROKER,
}
"""What each is replaced by when a test runs the command."""
