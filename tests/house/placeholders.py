"""What words in commands of README.md and docs/ stand for, where the documents mean the reader's own."""

DIRECTORY, SERVER_LOG, APP_LOG = "DIRECTORY", "server.log", "app.log"
SERVER_PROPERTIES, TOOL_ANSWER, TXID = "server.properties", "answers.txt", "TXID"

_CASE = "fixtures/k39-fenced"
_BROKER = f"{_CASE}/broker-1"
STAND_FOR = {
    DIRECTORY: _BROKER,
    SERVER_LOG: f"{_CASE}/logs/broker-1/server.log",
    APP_LOG: f"{_CASE}/logs/client-payments-a.log",
    SERVER_PROPERTIES: "fixtures/answers/limit/config/server-1.properties",
    TOOL_ANSWER: "fixtures/answers/hanging/find-hanging-payments.txt",
    TXID: "payments-eu-1",
}
