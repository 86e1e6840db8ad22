"""One answer proposes one value for each setting and client: the one that covers all that is asked for."""

from dataclasses import replace
from typing import Any

import pytest

from kafkatx.findings.finding import Finding
from kafkatx.findings.one_value import with_one_value
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.words.explained import Remedy
from tests.rules.cluster import Cluster

BLOCK = Remedy("Raise it", "client", "max.block.ms", "20000", "30000", "the call waited 20 s", restart_needed=True)


@pytest.fixture
def model(tmp_path):
    return Cluster(tmp_path).model()


def finding(name: str | None, *remedies: Remedy, rule: str = "misconfiguration") -> Finding:
    return Finding(rule, Verdict.likely, Severity.error, "t", "s", transactional_id=name, remedies=remedies)


def values(model: Any, *findings: Finding) -> list[str | None]:
    return [one.proposed for told in with_one_value(model, findings) for one in told.remedies]


def test_two_reasons_for_one_setting_of_one_client_ask_for_one_value(model):
    first, second = finding("pay-1", BLOCK), finding("pay-1", replace(BLOCK, proposed="60000", derived_from=None))
    assert values(model, first, second) == ["60000", "60000"]
    raised, own = (told.remedies[0] for told in with_one_value(model, [first, second]))
    assert raised.derived_from.startswith("the call waited 20 s; that asks for 30 s: another finding here needs more")
    assert own.derived_from is None
    assert values(model, second, first) == ["60000", "60000"]


def test_what_all_clients_need_each_of_them_needs(model):
    assert values(model, finding(None, replace(BLOCK, proposed="60000")), finding("pay-1", BLOCK)) == ["60000"] * 2
    assert values(model, finding(None, BLOCK), finding("pay-1", replace(BLOCK, proposed="90000"))) == ["90000"] * 2


def test_clients_of_their_own_have_values_of_their_own(model):
    assert values(model, finding("pay-1", BLOCK), finding("bill", replace(BLOCK, proposed="60000"))) == [
        "30000",
        "60000",
    ]


@pytest.mark.parametrize(
    "other",
    [
        replace(BLOCK, config="delivery.timeout.ms", proposed="60000"),
        replace(BLOCK, where="broker", proposed="60000"),
        replace(BLOCK, config="min.insync.replicas", current=None, proposed="2"),
        replace(BLOCK, proposed="10000"),
        replace(BLOCK, proposed="as long as the work takes"),
        replace(BLOCK, proposed=None),
    ],
    ids=["another setting", "of brokers", "no time", "to be lowered", "in words", "none"],
)
def test_what_does_not_contradict_and_what_is_no_larger_value_stays(model, other):
    assert values(model, finding("pay-1", BLOCK), finding("pay-1", other)) == ["30000", other.proposed]
