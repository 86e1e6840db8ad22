"""What only words tell of a failure has candidates, in nine languages, possible at most; else there is none."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from kafkatx.local.diagnosis import diagnose
from kafkatx.outputs.diagnosis_json import document
from kafkatx.rules.candidates.words import CANDIDATES
from kafkatx.terms.catalogue.loading import spoken_causes, spoken_traits, statement_patterns, symptoms
from kafkatx.terms.errors import NothingReadableError
from kafkatx.words.asked import DECIDES

TRAITS = {trait.name for trait in spoken_traits()}
STATEMENTS = {row.name for row in statement_patterns()}
KINDS = ("who", "does", "when", "ends")

FIRST = {
    "en": {
        "unstable_transactional_id": "Since we scaled to three pods our exactly-once consumers process records twice.",
        "transactional_id_expired": "After a weekend without traffic our transactional Kafka service fails to send.",
        "coordinator_unavailable": "Since a broker was restarted yesterday the commit of our transactions fails.",
        "transaction_timed_out": "Our Kafka transactions fail at the commit; processing takes longer on Mondays.",
        "open_transaction": "Our transactional job was killed; since then the consumer sees nothing new, no error.",
    },
    "de": {
        "unstable_transactional_id": "Seit dem Rebalance verarbeitet unser Kafka-Konsument Transaktionen doppelt.",
        "transactional_id_expired": "Nach einem Wochenende schl\u00e4gt unsere Kafka-Transaktion fehl.",
        "coordinator_unavailable": "Wir haben ein Problem: nach dem Neustart des Brokers schl\u00e4gt der Commit der "
        "Transaktion fehl.",
    },
    "zh": {
        "shared_producer": "我们部署了多个实例之后,kafka事务就报错。",
        "transactional_id_expired": "我们的kafka事务生产者闲置几天后,发送就失败。",
        "coordinator_unavailable": "昨天broker重启之后,我们的kafka事务提交失败。",
    },
    "ja": {
        "shared_producer": "kafkaのトランザクションを複数のインスタンスで動かすとエラーになりました。",
        "transactional_id_expired": "週末に放置したあと、kafkaトランザクションの送信が失敗しました。",
        "coordinator_unavailable": "ブローカーの再起動後、トランザクションのコミットが失敗しています。",
    },
    "ko": {
        "shared_producer": "저희가 여러 인스턴스로 실행하면 kafka 트랜잭션에서 오류가 납니다. 에러가 계속 납니다.",
        "transactional_id_expired": "며칠 동안 유휴 상태였던 저희 kafka 트랜잭션 프로듀서가 전송에 실패합니다.",
        "coordinator_unavailable": "브로커 재시작 후 저희 트랜잭션 커밋이 실패합니다.",
    },
    "ru": {
        "shared_producer": "\u0423 \u043d\u0430\u0441 \u0437\u0430\u043f\u0443\u0449\u0435\u043d\u043e "
        "\u043d\u0435\u0441\u043a\u043e\u043b\u044c\u043a\u043e "
        "\u044d\u043a\u0437\u0435\u043c\u043f\u043b\u044f\u0440\u043e\u0432, \u0438 "
        "\u0442\u0440\u0430\u043d\u0437\u0430\u043a\u0446\u0438\u0438 kafka "
        "\u043f\u0430\u0434\u0430\u044e\u0442 \u0441 \u043e\u0448\u0438\u0431\u043a\u043e\u0439.",
        "transactional_id_expired": "\u0423 \u043d\u0430\u0441 \u043f\u043e\u0441\u043b\u0435 "
        "\u043d\u0435\u0441\u043a\u043e\u043b\u044c\u043a\u0438\u0445 \u0434\u043d\u0435\u0439 "
        "\u043f\u0440\u043e\u0441\u0442\u043e\u044f "
        "\u0442\u0440\u0430\u043d\u0437\u0430\u043a\u0446\u0438\u044f kafka "
        "\u0437\u0430\u0432\u0435\u0440\u0448\u0430\u0435\u0442\u0441\u044f "
        "\u043e\u0448\u0438\u0431\u043a\u043e\u0439.",
        "coordinator_unavailable": "\u0423 \u043d\u0430\u0441 \u043f\u043e\u0441\u043b\u0435 "
        "\u0440\u0435\u0441\u0442\u0430\u0440\u0442\u0430 \u0431\u0440\u043e\u043a\u0435\u0440\u0430 "
        "\u043a\u043e\u043c\u043c\u0438\u0442 "
        "\u0442\u0440\u0430\u043d\u0437\u0430\u043a\u0446\u0438\u0438 kafka "
        "\u0437\u0430\u0432\u0435\u0440\u0448\u0430\u0435\u0442\u0441\u044f \u0441 "
        "\u043e\u0448\u0438\u0431\u043a\u043e\u0439.",
    },
    "es": {
        "shared_producer": "Nuestras transacciones de kafka dan error desde que hay varias instancias.",
        "transactional_id_expired": "Después de varios días sin uso nuestra transacción de kafka falla al enviar.",
        "broker_unreachable": "Desde la caída de un broker nuestra transacción de kafka se cuelga.",
    },
    "pt": {
        "shared_producer": "Nossas transações do kafka dão erro desde que há várias instâncias.",
        "transactional_id_expired": "Depois de vários dias parado nossa transação do kafka falha ao enviar.",
        "broker_unreachable": "Desde a queda de um broker nossa transação do kafka trava.",
    },
    "fr": {
        "shared_producer": "Nos transactions kafka sont en erreur depuis qu'il y a plusieurs instances.",
        "transactional_id_expired": "Après plusieurs jours sans trafic notre transaction kafka échoue à l'envoi.",
        "broker_unreachable": "Depuis la panne d'un broker notre transaction kafka reste bloquée.",
    },
}
"""What people write of a failure, by language and by the cause that a reader would look at first."""

QUIET = (
    "All our transactions went well since the brokers were restarted; nothing was lost, no duplicates.",
    "If a broker is restarted while a transaction is open, the commit may fail. That is by design.",
    "How do transactions work when several instances share an id? This article explains it.",
    "We plan to use Kafka transactions so that nothing is lost after a rebalance.",
    "Das ist eine Anleitung zu Transaktionen. Wenn ein Broker ausf\u00e4llt, wird der Commit wiederholt.",
    "本文介绍kafka事务:如果broker宕机,协调者会迁移,生产者会重试提交。",
    "トランザクションとは何か。ブローカーが停止した場合、コミットは再試行されます。",
    "이 글은 카프카 트랜잭션을 설명한다. 브로커가 재시작되면 코디네이터가 이동한다.",
    "\u0412 \u0441\u0442\u0430\u0442\u044c\u0435 \u043e\u043f\u0438\u0441\u0430\u043d\u043e, "
    "\u043a\u0430\u043a \u0440\u0430\u0431\u043e\u0442\u0430\u044e\u0442 "
    "\u0442\u0440\u0430\u043d\u0437\u0430\u043a\u0446\u0438\u0438 Kafka: \u043f\u0440\u0438 "
    "\u0441\u0431\u043e\u0435 \u0431\u0440\u043e\u043a\u0435\u0440\u0430 "
    "\u043a\u043e\u043e\u0440\u0434\u0438\u043d\u0430\u0442\u043e\u0440 "
    "\u043f\u0435\u0440\u0435\u0435\u0437\u0436\u0430\u0435\u0442.",
    "Esta guía explica las transacciones de Kafka: si cae un broker, el coordinador cambia.",
    "Este guia explica as transações do Kafka: se um broker cai, o coordenador muda.",
    "Ce guide explique les transactions de Kafka : si un broker tombe, le coordinateur change.",
)
"""What tells of no case: explanations, plans, and what went well."""

OTHER_TEXT = (
    "We use Java 17 and Spring Boot 3.",
    "Thanks in advance for any hint!",
    "The topic has twelve partitions.",
    "I have read the documentation twice.",
    "Our lag dashboard is built with Grafana.",
    "The service is deployed with Helm.",
    "There was no rebalance and nobody restarted anything.",
)
"""What people write besides."""


def told(folder: Path, text: str) -> dict[str, Any]:
    """The document of a diagnosis of a page."""
    path = folder / "page.md"
    path.write_text(text)
    try:
        return document(diagnose([path]), "0")
    except NothingReadableError:
        return {"findings": [], "next": []}


def candidates(found: dict[str, Any]) -> list[str]:
    """The causes that are left open, in order."""
    return [one["rule"] for finding in found["findings"] for one in finding["candidates"]]


# --- the tables


@pytest.mark.parametrize("row", spoken_causes(), ids=lambda row: f"{row.rule}: {row.because[:30]}")
def test_a_row_names_a_mechanism_and_what_is_told(row):
    assert row.rule in CANDIDATES
    assert row.rule in DECIDES
    assert {name for group in (*row.needs, *row.unless) for name in group} <= TRAITS | STATEMENTS
    needed = {group[0] for group in row.needs if len(group) == 1}
    assert not any(needed >= set(all_of) for all_of in row.unless)
    assert row.because
    assert row.source
    assert not row.because.endswith(".")


def test_a_mechanism_has_no_row_that_another_of_it_makes_idle():
    rows = spoken_causes()
    for number, row in enumerate(rows):
        for other in rows[:number]:
            assert (row.rule, row.needs) != (other.rule, other.needs)


@pytest.mark.parametrize("trait", spoken_traits(), ids=lambda trait: trait.name)
def test_a_trait_is_of_a_kind_and_is_asked_for(trait):
    assert trait.kind in KINDS
    assert trait.phrase
    assert trait.name not in STATEMENTS
    assert set(trait.symptoms) <= {symptom.name for symptom in symptoms()}


def test_a_trait_stands_in_one_row():
    names = [trait.name for trait in spoken_traits()]
    assert len(names) == len(set(names))


# --- what is told


@pytest.mark.parametrize(
    ("language", "rule"), [(language, rule) for language, texts in FIRST.items() for rule in texts]
)
def test_words_name_the_cause_first(language, rule, tmp_path):
    found = told(tmp_path, FIRST[language][rule])
    (finding,) = found["findings"]
    assert found["answer"]["state"] == "unexplained"
    assert (finding["rule"], finding["verdict"], finding["severity"]) == ("unexplained_failure", "possible", "info")
    assert candidates(found)[0] == rule
    first = finding["candidates"][0]
    assert '"' in first["for"]
    assert first["decided_by"] or not found["next"]


@pytest.mark.parametrize("text", QUIET)
def test_what_tells_of_no_case_has_no_candidate(text, tmp_path):
    found = told(tmp_path, text)
    assert candidates(found) == []


@pytest.mark.parametrize("seed", range(12))
def test_more_text_proves_nothing_and_keeps_what_is_told(seed, tmp_path):
    """Sentences that say nothing of the failure neither prove a cause, nor make another one of it likely."""
    chance = random.Random(seed)
    rule, text = chance.choice(sorted(FIRST["en"].items()))
    others = chance.sample(OTHER_TEXT, 3)
    cut = chance.randrange(len(others) + 1)
    page = "\n\n".join((*others[:cut], text, *others[cut:]))
    found = told(tmp_path, page)
    assert all(finding["verdict"] == "possible" for finding in found["findings"])
    assert rule in candidates(found)


def test_what_speaks_against_a_cause_removes_it(tmp_path):
    text = FIRST["zh"]["shared_producer"]
    assert "shared_producer" in candidates(told(tmp_path, text))
    assert "shared_producer" not in candidates(told(tmp_path, text + "\n没有其他实例,只有一个生产者使用这个id。"))


def test_a_denied_occasion_speaks_for_nothing(tmp_path):
    text = "The commit of our Kafka transactions fails since yesterday{}."
    assert candidates(told(tmp_path, text.format(", a broker was restarted"))) != []
    assert candidates(told(tmp_path, text.format(", without a rebalance"))) == []


SOLVED = (
    "I solved it by another setting.",
    "The problem is solved now.",
    "We have fixed the issue.",
    "Das Problem ist gelöst.",
    "问题已解决。",
    "\u041f\u0440\u043e\u0431\u043b\u0435\u043c\u0430 \u0440\u0435\u0448\u0435\u043d\u0430.",
)
UNSOLVED = ("I have not solved it yet.", "Has anybody solved this?", "We fixed the issue, but it still fails.")


@pytest.mark.parametrize("words", SOLVED)
def test_of_what_is_over_nothing_is_asked(words, tmp_path):
    found = told(tmp_path, f"{FIRST['en']['coordinator_unavailable']}\n\n{words}\n")
    assert found["next"] == []
    (finding,) = found["findings"]
    assert words.rstrip(".。") in finding["summary"]
    assert finding["remedies"][0]["text"].startswith("Nothing to do")


@pytest.mark.parametrize("words", UNSOLVED)
def test_of_what_is_not_over_evidence_is_asked(words, tmp_path):
    assert told(tmp_path, f"{FIRST['en']['coordinator_unavailable']}\n\n{words}\n")["next"] != []
