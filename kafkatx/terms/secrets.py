"""Names of settings whose values are shown nowhere.

Why     configuration lies in the metadata log, in logs and in files; a report is passed on.
Source  ConfigDef.Type.PASSWORD in SslConfigs, SaslConfigs, BrokerSecurityConfigs, DelegationTokenManagerConfigs,
        PasswordEncoderConfigs (Kafka 0.11 to 4.3); other names that speak of a secret are hidden for safety's sake.
"""

import re

HIDDEN = "[hidden]"

_PASSWORDS = (
    "sasl.jaas.config",
    "ssl.keystore.key",
    "ssl.keystore.certificate.chain",
    "ssl.truststore.certificates",
    "delegation.token.master.key",
)
_SPEAKING = re.compile(
    r"password|passwd|passphrase|secret|token|credential|private.?key|api.?key|auth.user.info", re.IGNORECASE
)
_USER_IN_URL = re.compile(r"(://)[^/@\s:,]{1,200}:[^@\s,]{0,200}@")
_QUERY_OF_STORE = re.compile(r"((?:s3[an]?|gs|gcs|abfss?|hdfs)://[^\s?'\"]{1,4096}\?)[^\s'\"]+", re.IGNORECASE)
_TOLD = re.compile(
    r"((?:password|passwd|passphrase|secret|token|credential)\w{0,30}[\"']?\s{0,4}[=:]\s{0,4})"
    r"(\"(?:[^\"\\]|\\.)*\"?|'[^']*'?|[^\s\"';,]+)",
    re.IGNORECASE,
)


def is_secret(name: str) -> bool:
    """Whether the value of a setting is hidden; a listener's prefix before the name does not matter.

    The spellings of other programs (`sasl_jaas_config`, `KAFKA_SASL_JAAS_CONFIG`) are the same names.
    """
    dotted = name.lower().replace("_", ".").replace("-", ".")
    return dotted.endswith(_PASSWORDS) or bool(_SPEAKING.search(name))


def without_credentials(text: str) -> str:
    """Return a text without users and passwords in URLs, and without the queries of URLs of stores."""
    return _QUERY_OF_STORE.sub(rf"\1{HIDDEN}", _USER_IN_URL.sub(rf"\1{HIDDEN}@", text))


def shown_value(name: str, value: str) -> str:
    """Return a setting's value as it may be shown: hidden whole, or without passwords that stand inside of it.

    `null` and nothing hide nothing: they say that no secret is set.
    """
    if is_secret(name):
        return HIDDEN if value.strip() not in ("", "null") else value
    return _TOLD.sub(rf"\1{HIDDEN}", _USER_IN_URL.sub(rf"\1{HIDDEN}@", value))
