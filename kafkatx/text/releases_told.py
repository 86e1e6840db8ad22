"""Releases of libraries, frameworks and brokers that a page names: in a log's own lines, or in the words around it.

People say which release they run, tools print it, frames of stack traces name jars. It is no evidence of what happened,
but it says whether a known defect can be in play. A number behind no name, or behind another word, is nobody's release.
"""

from __future__ import annotations

import re
from functools import lru_cache

from kafkatx.sources.files import OpenFile
from kafkatx.terms.regex import regex
from kafkatx.text.whole_pages import MOST_PAGES, page_of

_NUMBER = r"(?P<release>0\.\d{1,4}(?:\.\d{1,4}){1,2}|\d{1,4}(?:\.\d{1,4}){1,2})(?![\d.]*\d)(?!/)"
"""Four numbers are an address, but for the first releases of Kafka."""
_BETWEEN = r"(?:[\s:=@'\"(,_-]|version\b|release\b|lib\b|is\b|v(?=\d)){1,12}"
PRODUCTS = {
    "librdkafka": r"(?:lib)?rdkafka(?:[ _-](?:consumer|producer))?|confluent[-_]kafka(?:-python|-go)?(?:\.version\(\))?"
    r"|Confluent\.Kafka|libversion(?:\(\))?",
    "kafka-clients": r"kafka-clients|(?:java|kafka) clients?",
    "Kafka Streams": r"kafka[- ]streams",
    "Kafka": r"(?:apache )?kafka(?: brokers?| server)?|brokers?|KRaft",
    "sarama": r"sarama",
    "KafkaJS": r"kafkajs|KafkaJS",
    "aiokafka": r"aiokafka",
    "kafka-python": r"kafka-python",
    "franz-go": r"franz-go",
    "spring-kafka": r"spring-kafka|spring kafka",
    "Flink's Kafka connector": r"flink(?:-connector-kafka)?|connector",
    "Alpakka Kafka": r"alpakka(?:[- ]kafka)?|akka-stream-kafka(?:_2\.1\d)?",
    "SeaTunnel": r"seatunnel",
    "Redpanda": r"redpanda",
    "ksqlDB": r"ksql(?:db)?",
    "Ballerina's Kafka module": r"ballerinax?(?:\.kafka|/kafka)?",
    "KoP": r"\bkop|starlight-for-kafka",
    "AutoMQ": r"automq",
    "Axon's Kafka extension": r"axon-kafka(?:-spring)?",
}
"""Products of the table of known defects and how they are called; bindings that share its numbers are librdkafka."""
STEMS = {
    "librdkafka": ("rdkafka", "confluent", "libversion"),
    "kafka-clients": ("client",),
    "Kafka Streams": ("streams",),
    "Kafka": ("kafka", "broker", "kraft"),
    "KafkaJS": ("kafkajs",),
    "spring-kafka": ("spring",),
    "Flink's Kafka connector": ("flink", "connector"),
    "Alpakka Kafka": ("alpakka", "akka-stream-kafka"),
    "SeaTunnel": ("seatunnel",),
    "Redpanda": ("redpanda",),
    "ksqlDB": ("ksql",),
    "Ballerina's Kafka module": ("ballerina",),
    "KoP": ("kop", "starlight-for-kafka"),
    "AutoMQ": ("automq",),
    "Axon's Kafka extension": ("axon-kafka",),
}
"""Of each product, one of which stands in every text that calls it: quick to look for. Else it is its name."""
_PATTERNS = {
    name: regex(rf"(?<![\w.-])(?:{called}){_BETWEEN}{_NUMBER}", re.IGNORECASE) for name, called in PRODUCTS.items()
}


def releases_on_page(file: OpenFile) -> tuple[tuple[str, str], ...]:
    """Return products with the releases that a page names; nothing of what is too large for a page."""
    page = page_of(file)
    return releases_in(page.content.decode("utf-8", "replace")) if page is not None else ()


@lru_cache(maxsize=MOST_PAGES)
def releases_in(text: str) -> tuple[tuple[str, str], ...]:
    """Return products with the releases that a text names, each once."""
    small = text.lower() if text.isascii() else None
    named = (name for name in PRODUCTS if small is None or any(stem in small for stem in STEMS.get(name, (name,))))
    found = ((name, match["release"]) for name in named for match in _PATTERNS[name].finditer(text))
    return tuple(dict.fromkeys(found))
