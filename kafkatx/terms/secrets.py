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
_SPEAKING = re.compile(r"password|secret|token|credential|private.?key", re.IGNORECASE)


def is_secret(name: str) -> bool:
    """Whether the value of a setting is hidden; a listener's prefix before the name does not matter."""
    return name.endswith(_PASSWORDS) or bool(_SPEAKING.search(name))
