"""What is shown nowhere: values of settings that are secrets, and secrets inside of any other text.

Why     configuration lies in the metadata log, in logs and in files; a report is passed on. A text is hidden where it
        is taken out of its file (strings of events, words of people, lines of tables): no output has to remember it.
Limits  a secret is known by what stands before it, or by the shape that its issuer gives it; one that stands alone in
        words of people is not. What is hidden is the value; names, hosts and ids stay.
Source  ConfigDef.Type.PASSWORD in SslConfigs, SaslConfigs, BrokerSecurityConfigs, DelegationTokenManagerConfigs,
        PasswordEncoderConfigs (Kafka 0.11 to 4.3); other names that speak of a secret are hidden for safety's sake.
"""

import re

from kafkatx.terms.regex import regex

HIDDEN = "[hidden]"

_PASSWORDS = (
    "sasl.jaas.config",
    "ssl.keystore.key",
    "ssl.keystore.certificate.chain",
    "ssl.truststore.certificates",
    "delegation.token.master.key",
)
_SPEAKING = regex(
    r"password|passwd|passphrase|secret|token|credential|private.?key|api.?key|auth.user.info", re.IGNORECASE
)
_USER_IN_URL = regex(r"(://)[^/@\s:,]{1,200}:[^@\s,]{0,200}@")
_QUERY_OF_STORE = regex(r"((?:s3[an]?|gs|gcs|abfss?|hdfs)://[^\s?'\"]{1,4096}\?)[^\s'\"]+", re.IGNORECASE)
_NAME = (
    r"(?:pass(?:word|wd|phrase)|\bpwd|\.pwd|secret|token|credential|api[-_. ]?key|(?:access|account|private)[-_. ]?key"
    r"|\bsig|[-_]signature|cookie|jsessionid)"
)
_TOLD = regex(
    rf"((?:{_NAME}[\w-]{{0,30}}[\"']?\s{{0,4}}[=:]\s{{0,4}}|--[\w.-]{{0,30}}{_NAME}[\w.-]{{0,30}}\s{{1,4}}))"
    r"(\[hidden\]|\\?\"(?:[^\"\\]|\\[^\"])*\\?\"?|'[^']*'?|[^\s\"';,&)}\]]+)",
    re.IGNORECASE,
)
_OF_NO_SECRET = regex(
    r"(?:ms|seconds?|minutes?|expir\w*|ur[li]|endpoint|types?|class|size|count|name|file|path|location|provider|id)[\"']?\s*[=:]\s*$",
    re.IGNORECASE,
)
"""Ends of names that only speak of a secret: how long it lives, where it is."""
_HEADER = regex(r"(\b(?:bearer|basic)\s{1,4})((?=\S*[\d=+/._~-])[\w.~+/-]{8,4096}=*)", re.IGNORECASE)
_ISSUED = regex(
    r"\beyJ[\w-]{8,4096}\.[\w-]{4,8192}(?:\.[\w-]{0,4096})?|\bgh[pousr]_\w{20,255}|\bgithub_pat_\w{20,255}"
    r"|\bxox[abeoprs]-[\w-]{10,255}|\bsk_live_\w{10,255}"
    r"|-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----[^-]{0,16384}(?:-----END [A-Z ]{0,40}PRIVATE KEY-----)?"
)
"""Tokens whose issuers give them a shape: JSON web tokens, GitHub, Slack, Stripe, keys in PEM."""
_MAY_BE = regex(
    r"pass|pwd|secret|token|cred|key|sig|cookie|sessionid|bearer|basic|://|eyJ|gh[pousr]_|github_|xox|sk_",
    re.IGNORECASE,
)
_NO_SECRET = frozenset({"", "null", "none", "nil", "undefined", "true", "false", HIDDEN})


def is_secret(name: str) -> bool:
    """Whether the value of a setting is hidden; a listener's prefix before the name does not matter.

    The spellings of other programs (`sasl_jaas_config`, `KAFKA_SASL_JAAS_CONFIG`) are the same names.
    """
    dotted = name.lower().replace("_", ".").replace("-", ".")
    return dotted.endswith(_PASSWORDS) or bool(_SPEAKING.search(name))


def without_credentials(text: str) -> str:
    """Return a text without users and passwords in URLs, and without the queries of URLs of stores."""
    return _QUERY_OF_STORE.sub(rf"\1{HIDDEN}", _USER_IN_URL.sub(rf"\1{HIDDEN}@", text))


def may_hold_secrets(text: str) -> bool:
    """Whether there may be one in a text: no digit of it decides that."""
    return _MAY_BE.search(text) is not None


def without_secrets(text: str) -> str:
    """Return a text without passwords, tokens and keys that stand inside of it.

    `null` and nothing hide nothing: they say that no secret is set.
    """
    if not may_hold_secrets(text):
        return text
    return _ISSUED.sub(HIDDEN, _HEADER.sub(rf"\1{HIDDEN}", _TOLD.sub(_told, without_credentials(text))))


def _told(found: re.Match[str]) -> str:
    is_none = found[2].strip("\"'\\").lower() in _NO_SECRET
    return found[0] if is_none or _OF_NO_SECRET.search(found[1]) else f"{found[1]}{HIDDEN}"


def shown_value(name: str, value: str) -> str:
    """Return a setting's value as it may be shown: hidden whole, or without the secrets inside of it."""
    if is_secret(name):
        return HIDDEN if value.strip() not in ("", "null") else value
    return without_secrets(value)
