"""How texts name errors: classes of exceptions, constants, and what clients put around them. Pieces of patterns.

Who asks whether a line names, shows or tells of an error asks with these, whatever else his question is.
"""

from __future__ import annotations

PACKAGES = r"(?:[A-Za-z_$][\w$]{0,99}\.){1,20}"
"""What stands before the name of a class of Java's."""
CLASS = (
    rf"(?:{PACKAGES}[A-Z][\w$]{{0,99}}?(?:Exception|Error|Throwable|Fenced|Warning)"
    r"|(?:aio)?kafka\.errors\.[A-Z]\w{2,79})(?![\w$.])"
)
"""Full name of a class of exceptions, as Java and Python print it."""
KINDS = "(?:Exception|Error|Fenced)"
"""How the names of classes of exceptions end."""
SIMPLE_CLASS = rf"[A-Z][a-z]\w{{1,79}}{KINDS}"
"""Its name without packages."""
NOT_WITHIN = r"(?<![\w$.@/])"
"""Before the name of a class: nothing that the name is only the rest of."""
CONSTANT = r"\b[A-Z]{3,20}_[A-Z_]{3,50}\b"
"""An error of the protocol, or another constant."""
MENTIONED = rf"[A-Z][a-z]\w{{2,79}}{KINDS}\b|KafkaJS[A-Z]\w{{3,79}}|{CONSTANT}"
"""What people and tables call an error by."""
KAFKAJS = r"KafkaJS[A-Z]\w{2,60}"
"""A class of KafkaJS's."""
CONFLUENT = r"KafkaError\{(?:[A-Z]{1,20},){0,4}code="
"""How an error of confluent-kafka begins."""
_WITHIN = r"\[(?:[^\[\]]|\[[^\[\]]{0,200}\]){0,200}\]"
TYPE_ARGUMENTS = rf"`\d\[(?:[^\[\]]|{_WITHIN}){{0,400}}\]"
"""What .NET prints behind the name of a generic class: `2[System.String,System.Byte[]]."""
EPOCH_BUMP = ", requires epoch bump"
"""What librdkafka adds to the constant of an error."""
ANSWER = r"\bResponse [A-Z]\w{2,40}\(key: \d{1,3}, version: \d{1,3}\)\s*[{,:]?\s*$"
"""What KafkaJS logs of an answer with an error, where its fields stand on lines of their own."""
