import pytest

from kafkatx.terms.catalogue.entries import plain_name
from kafkatx.terms.catalogue.loading import client_exceptions, error_codes
from kafkatx.terms.error_codes import FENCED, ErrorCode, error_code
from tests.evidence import ROOT

OF_PROTOCOL = [error for error in error_codes() if error.code in {code for code in ErrorCode if code > 0}]


def test_every_code_of_the_protocol_is_the_catalogues():
    names = {(error.code, error.name) for error in OF_PROTOCOL}
    assert {(code, code.name) for code in ErrorCode if code > 0} <= names


@pytest.mark.parametrize("error", OF_PROTOCOL, ids=lambda error: error.name)
def test_an_error_is_known_by_its_name_and_by_the_newest_class_of_the_java_client(error):
    newest = error.exceptions[-1].text
    assert error_code(error.name) == error_code(f"RD_KAFKA_RESP_ERR_{error.name}") == error.code
    if newest != "TimeoutException":  # of many other meanings
        assert error_code(newest) == error_code(f"org.apache.kafka.common.errors.{newest}") == error.code


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        ("org.apache.kafka.common.errors.ProducerFencedException", "ProducerFencedException"),
        ("kafka.common.StateChangeFailedException$", "StateChangeFailedException"),
        ("RD_KAFKA_RESP_ERR__FENCED", "_FENCED"),
        ("rdkafka.RD_KAFKA_RESP_ERR_PRODUCER_FENCED", "PRODUCER_FENCED"),
        ("INVALID_PRODUCER_EPOCH", "INVALID_PRODUCER_EPOCH"),
    ],
)
def test_plain_names(name, plain):
    assert plain_name(name) == plain


def test_plain_names_are_made_in_one_place():
    files = (ROOT / "kafkatx").rglob("*.py")
    assert not [path.name for path in files if 'removeprefix("RD_KAFKA_RESP_ERR_")' in path.read_text()]


@pytest.mark.parametrize("entry", client_exceptions(), ids=str)
def test_no_client_calls_an_error_by_the_name_of_another(entry):
    for name in entry.exceptions:
        found = error_code(name)
        assert found <= 0 or not entry.codes or found in entry.codes or {found, *entry.codes} <= FENCED


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("org.apache.kafka.common.errors.ProducerFencedException", ErrorCode.PRODUCER_FENCED),
        ("kafka.errors.ProducerFencedError", ErrorCode.PRODUCER_FENCED),
        ("aiokafka.errors.ProducerFenced", ErrorCode.PRODUCER_FENCED),
        ("kerr.InvalidProducerEpoch", ErrorCode.INVALID_PRODUCER_EPOCH),
        ("kerr.InvalidProducerIDMapping", ErrorCode.INVALID_PRODUCER_ID_MAPPING),
        ("aiokafka.errors.InvalidProducerIdMapping", ErrorCode.INVALID_PRODUCER_ID_MAPPING),
        ("InvalidPidMappingException", ErrorCode.INVALID_PRODUCER_ID_MAPPING),
        ("_FENCED", ErrorCode.LOCAL_FENCED),
        ("RD_KAFKA_RESP_ERR__FENCED", ErrorCode.LOCAL_FENCED),
        ("FencedInstanceIdException", ErrorCode.FENCED_INSTANCE_ID),
        ("TransactionCoordinatorFencedException", ErrorCode.TRANSACTION_COORDINATOR_FENCED),
        ("Local_Fenced", ErrorCode.LOCAL_FENCED),
        ("sarama.ErrInvalidProducerIDMapping", ErrorCode.INVALID_PRODUCER_ID_MAPPING),
        ("kafkajs.NOT_COORDINATOR_FOR_GROUP", ErrorCode.NOT_COORDINATOR),
        ("MSG_SIZE_TOO_LARGE", ErrorCode.MESSAGE_TOO_LARGE),
        ("InvalidTransactionalState", ErrorCode.INVALID_TXN_STATE),
        ("_TIMED_OUT", ErrorCode.NONE),
        ("none", ErrorCode.NONE),
        ("", ErrorCode.NONE),
    ],
)
def test_spellings(name, code):
    assert error_code(name) is code
