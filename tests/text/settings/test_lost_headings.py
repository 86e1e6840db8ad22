"""Blocks of values that a program printed, whose heading was lost, are not what somebody set."""

from kafkatx.text.lines import Line
from kafkatx.text.settings.files import settings_of_file

PRINTED = """\
	acks = -1
	batch.size = 16384
	client.dns.lookup = use_all_dns_ips
	interceptor.classes = []
	key.serializer = class org.apache.kafka.common.serialization.StringSerializer
	retries = 0
	transactional.id = null
"""
WRITTEN = """\
transactional.id=orders-1
acks=all
retries=0
bootstrap.servers=a:9092
"""


def _settings(text):
    return settings_of_file([Line(number, 0, line) for number, line in enumerate(text.splitlines(), 1)], 0)


def test_values_in_order_of_their_names_with_null_and_classes_were_printed():
    found = _settings(PRINTED)
    assert found
    assert all(setting.is_printed for setting in found)


def test_what_somebody_wrote_was_not_printed():
    found = _settings(WRITTEN)
    assert found
    assert not any(setting.is_printed for setting in found)


def test_some_lines_in_order_are_no_block():
    assert not any(setting.is_printed for setting in _settings("acks = all\nretries = null\n"))
