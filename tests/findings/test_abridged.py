"""Where lines were left out, what is counted of lines is the least."""

import pytest

from kafkatx.local.diagnosis import diagnose
from kafkatx.words.values import AtLeast

WHO = "[Producer clientId=b, transactionalId=bills-2]"
FAILED = (
    "2022-05-04 10:0{minute}:09,100 ERROR {who} send failed\n"
    "org.apache.kafka.common.errors.TopicAuthorizationException: Not authorized to access topics: [bills]\n"
    "\tat org.apache.kafka.clients.producer.KafkaProducer.send(KafkaProducer.java:800)\n{between}"
)


def said(folder, between, frames=""):
    """All sentences about three failures of which the last two stand behind `between`."""
    path = folder / "app.log"
    path.write_text(
        FAILED.format(minute=1, who=WHO, between=frames + between)
        + FAILED.format(minute=2, who=WHO, between="")
        + FAILED.format(minute=3, who=WHO, between="")
    )
    (found,) = diagnose([path]).findings
    return " ".join([found.finding.summary, *(f"{one.text} {one.because}" for one in found.finding.steps)])


@pytest.mark.parametrize("between", ["2022-05-04 10:01:30,000 INFO go on\n...\n", "\n[300 lines omitted]\n", "\n…\n"])
def test_counts_of_an_abridged_log_are_the_least(tmp_path, between):
    assert "at least 3 times" in said(tmp_path, between)


@pytest.mark.parametrize("between", ["", "\t...\n", "\t... 12 more\n"])
def test_counts_of_a_whole_log_are_exact(tmp_path, between):
    text = said(tmp_path, between)
    assert "3 times" in text
    assert "at least" not in text


def test_a_count_says_it_where_it_is_a_number():
    assert f"{AtLeast(3):time}" == "at least 3 times"
    assert f"{AtLeast(1_204)}" == "at least 1,204"
    assert (f"{AtLeast(3):was|were}", f"{AtLeast(3):plain}") == ("were", "3")
