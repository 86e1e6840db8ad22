"""Names that read like words, or like parts of one, stand between quotation marks wherever they are printed."""

import pytest

from kafkatx.local.diagnosis import diagnose
from kafkatx.words.values import ClientName, TopicPartition, as_name, producer_name

PLAIN = ("orders-1", "orders", "a", "__consumer_offsets", "eu.bills:7", "T_9", "App-0_1", "платежи-3")
ODD = ("_STATE", "-3", "the", "Transaction", "bills-", "two words", "a,b", "", "null", '"x')


@pytest.mark.parametrize("name", PLAIN)
def test_a_name_that_looks_like_one_stands_alone(name: str):
    assert as_name(name) == name


@pytest.mark.parametrize("name", ODD)
def test_any_other_is_quoted_in_the_same_way_everywhere(name: str):
    assert as_name(name) == f'"{name}"'
    assert producer_name(name, 7) == f'"{name}"'
    assert f"{ClientName(name, None)}" == f'the producer of "{name}"'
    assert f"{ClientName(None, name)}" == f'the client "{name}"'


def test_a_partition_is_one_name():
    assert f"{TopicPartition('bills', 3)}" == "bills-3"
    assert f"{TopicPartition('_b', 3)}" == '"_b-3"'


def test_a_finding_quotes_an_odd_id_and_an_error_that_is_a_fragment(tmp_path):
    path = tmp_path / "app.log"
    path.write_text(
        "2022-05-04 10:00:09,100 ERROR [Producer clientId=b, transactionalId=_the] send failed\n"
        "org.apache.kafka.common.errors.NotEnoughReplicasException: Messages are rejected.\n"
    )
    (found,) = diagnose([path]).findings
    assert found.finding.who == '"_the"'
    assert 'The producer of "_the" got NotEnoughReplicasException' in found.finding.summary
    path.write_text('KafkaError{code=_FATAL,val=-150,str="Unable to produce message: Local: Fatal error"}\n')
    (found,) = diagnose([path]).findings
    assert found.finding.title.startswith('"_FATAL"')
