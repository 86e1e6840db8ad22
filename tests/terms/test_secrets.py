import pytest

from kafkatx.terms.secrets import is_secret


@pytest.mark.parametrize(
    "name",
    [
        "sasl.jaas.config",
        "listener.name.internal.scram-sha-512.sasl.jaas.config",
        "ssl.keystore.password",
        "ssl.keystore.key",
        "ssl.keystore.certificate.chain",
        "ssl.truststore.certificates",
        "password.encoder.secret",
        "delegation.token.master.key",
        "my.API_TOKEN",
        "aws.private-key",
    ],
)
def test_settings_that_hold_secrets_are_known(name):
    assert is_secret(name)


@pytest.mark.parametrize("name", ["log.retention.ms", "ssl.keystore.location", "key.serializer", "transactional.id"])
def test_other_settings_are_shown(name):
    assert not is_secret(name)
