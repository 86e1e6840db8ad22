"""Known defects of clients and brokers (terms/catalogue/known_defects.tsv) that logs and texts show.

Grain    one text, one client, one defect: lines that show all texts of one of its signs, with what must stand beside.
Release  one that is told decides: outside of the releases with the defect it is not this one. Where none is told, only
         signs that nothing else makes are enough; others are a guess, and only name the defect as one that may be.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from kafkatx.findings.client_lines import by_client
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.logs.client_instance import ClientInstance
from kafkatx.histories.logs.log_model import LogModel
from kafkatx.histories.logs.once import once
from kafkatx.terms.catalogue.entries import KnownDefect, Signs
from kafkatx.terms.catalogue.loading import known_defect
from kafkatx.terms.events import Side
from kafkatx.terms.records import dataclass
from kafkatx.text.logs.defect_texts import defects_by_text

LIBRARIES = {
    "java": ("kafka-clients", "Kafka Streams"), "kafkajs": ("KafkaJS",), "librdkafka": ("librdkafka",),
    "sarama": ("sarama",), "aiokafka": ("aiokafka",), "kafka-python": ("kafka-python",), "franz-go": ("franz-go",),
}  # fmt: skip
"""Products that the release of a client of each implementation is one of."""
OF_LIBRARIES = frozenset(name for names in LIBRARIES.values() for name in names)
FAMILY = {"Kafka Streams": "kafka-clients"}
"""Products whose releases are numbered as another one's."""
Shown = Mapping[str, set[int]]
"""Lines by the texts that they show."""


@dataclass(frozen=True, slots=True)
class MetDefect:
    """A defect that lines show: `rows` are these, `beside` those that must stand beside; `release` is one that has it.

    `is_sure`: a release that has it is told, or nothing else makes these lines.
    """

    defect: KnownDefect
    client: ClientInstance | None
    rows: tuple[int, ...]
    beside: tuple[int, ...]
    release: str | None
    is_sure: bool


@once
def met_defects(model: CaptureModel) -> tuple[MetDefect, ...]:
    """Every defect that lines show, the surest first; of lines that one explains surely no guess is left."""
    logs = model.logs
    found = [met for source, shown in _shown(logs).items() for met in _of_source(model, source, shown)]
    sure = {row for met in found if met.is_sure for row in met.rows}
    left = [met for met in found if met.is_sure or sure.isdisjoint(met.rows)]
    return tuple(sorted(left, key=lambda met: (not met.is_sure, met.rows[0])))


def _shown(logs: LogModel) -> dict[int, Shown]:
    """Texts of known defects that lines show, by source."""
    found: dict[int, dict[str, set[int]]] = {}
    if len(logs.events):
        for row in np.flatnonzero(logs.events["signs_code"] >= 0).tolist():
            shown = found.setdefault(int(logs.events["source"][row]), {})
            for text in (logs.string(row, "signs") or "").split("\n"):
                shown.setdefault(text, set()).add(row)
    return dict(found)


def _of_source(model: CaptureModel, source: int, shown: Shown) -> Iterator[MetDefect]:
    by_text = defects_by_text()
    for defect in map(known_defect, sorted({number for text in shown for number in by_text.get(text, ())})):
        rows = _rows(shown, defect.shows)
        beside = _rows(shown, defect.beside)
        if not rows or (defect.beside and not beside) or _rows(shown, defect.unless):
            continue
        for client, mine in _by_owner(model, rows):
            told = _releases(model.logs, source, client, defect)
            with_it = [release for release in told if defect.is_in(_numbers(release))]
            if not _is_of_another(client, defect) and (with_it if told else _may_be_of(client, defect)):
                release = with_it[0] if with_it else None
                is_sure = defect.is_sure or (release is not None and defect.sure == "release")
                yield MetDefect(defect, client, tuple(mine), tuple(beside), release, is_sure)


def _rows(shown: Shown, signs: Signs) -> list[int]:
    """Lines that show all texts of one of the signs."""
    told = (set.intersection(*(shown.get(text, set()) for text in one)) for one in signs)
    return sorted(set().union(*told))


def _by_owner(model: CaptureModel, rows: Sequence[int]) -> list[tuple[ClientInstance | None, list[int]]]:
    """Lines by the client that wrote them; those of nobody are the only client's, where there is one."""
    groups = list(by_client(model, rows))
    if len(groups) == 2 and groups[1][0] is None:
        return [(groups[0][0], sorted(rows))]
    return groups


def _is_of_another(client: ClientInstance | None, defect: KnownDefect) -> bool:
    """Whether another library than the defect's wrote the lines."""
    if client is None or client.implementation not in LIBRARIES or defect.product not in OF_LIBRARIES:
        return False
    return defect.product not in LIBRARIES[client.implementation]


def _may_be_of(client: ClientInstance | None, defect: KnownDefect) -> bool:
    """Whether lines without a release may show it: nothing else makes them, or it is the product's own that wrote them.

    Signs of a framework name it themselves; a broker is Kafka's where nothing says that it is not.
    """
    if defect.is_sure:
        return True
    if defect.side == Side.broker.name:
        return defect.product == "Kafka"
    mine = LIBRARIES.get(client.implementation, ()) if client is not None else ()
    return defect.product in mine or defect.product not in OF_LIBRARIES


def _releases(logs: LogModel, source: int, client: ClientInstance | None, defect: KnownDefect) -> list[str]:
    """Releases of the product that the text tells; the client's own outweigh what is told around its lines."""
    product = defect.product
    if client is not None and client.release and product in LIBRARIES.get(client.implementation, ()):
        return [".".join(map(str, client.release))]
    told = logs.facts.sources[source].releases
    return [release for name, release in told if name in (product, FAMILY.get(product))]


def _numbers(release: str) -> tuple[int, ...]:
    return tuple(map(int, release.split(".")))
