"""Evidence as a library sees it: opened once, then read as tables, diagnosed, or told as histories."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from kafkatx.evidence.captures import Capture
from kafkatx.findings.diagnosis import Diagnosis
from kafkatx.histories.location import Locations
from kafkatx.histories.result import Histories
from kafkatx.local.diagnosis import diagnose
from kafkatx.local.history import history
from kafkatx.local.location import locate
from kafkatx.sources import places
from kafkatx.sources.states import FileState, file_states
from kafkatx.stages import table_diagnosis
from kafkatx.stages import table_interpreted as interpreted
from kafkatx.stages.file_tables import FILE_TABLES, file_rows
from kafkatx.stages.judging import CaptureDiagnosis, NothingToDiagnoseError
from kafkatx.stages.lone_copies import logs_in_order
from kafkatx.stages.models import JudgedCapture, build_models, open_evidence
from kafkatx.stages.table_files import Source, sources
from kafkatx.stages.table_settings import settings_table
from kafkatx.tables.captures import CAPTURES
from kafkatx.tables.catalogue import TABLES
from kafkatx.tables.findings import EVIDENCE, FINDINGS, NEXT, NOT_CHECKABLE
from kafkatx.tables.settings import SETTINGS
from kafkatx.tables.transactions import TRANSACTIONS
from kafkatx.terms.errors import UsageError
from kafkatx.terms.progress import Progress, expect


class Evidence:
    """What lies under some paths, for reading only. Nothing is read before it is asked for."""

    def __init__(
        self, paths: Iterable[str | Path], captures: dict[str, str] | None = None, verify_all: bool = False
    ) -> None:
        """Find the files; raises UsageError for a path that does not exist. See `open`."""
        self.paths = places.admitted(paths)
        self.verify_all = verify_all
        self._forced = captures
        self._found = open_evidence(self.paths, captures)
        self._diagnosis: Diagnosis | None = None
        self._captures: list[Any] = []

    @property
    def captures(self) -> list[Capture]:
        """The captures: one for each cluster that the evidence is of."""
        return self._found.captures

    @property
    def tables(self) -> tuple[str, ...]:
        """Names of the tables."""
        return tuple(TABLES)

    def schema(self, name: str) -> Any:
        """Return the pyarrow.Schema of a table; raises UsageError for a name that is none."""
        return _known(name).schema

    def table(self, name: str, progress: Progress | None = None) -> Iterator[Any]:
        """Stream a table as pyarrow.RecordBatch, all of its schema; raises UsageError for a name that is none.

        Files are read one after the other, in memory that does not grow with them. `transactions`, `findings` and
        `evidence` need the whole model first. Every copy of a partition is there; `path` tells them apart. `progress`
        is called with the path and the size of a file before it is read.
        """
        return self._stream(_known(name).name, progress)

    def table_in_order(self, name: str, progress: Progress | None = None) -> Iterator[Any] | None:
        """Stream a table as it is sorted, each fact once; None where that is not to be expected of its files.

        Who takes it looks at the rows: offsets that do not ascend in a file break the order. `progress` as of `table`.
        """
        logs = logs_in_order(_known(name).name, sources(self._found, self.verify_all))
        return None if logs is None else file_rows(name, self._met(progress, logs))

    def facts(self, progress: Progress | None = None) -> Iterator[Any]:
        """Stream what a diagnosis needs of the files as pyarrow.RecordBatch: the table `facts` of an export.

        It is packed, for kafkatx itself; `progress` as of `table`.
        """
        from kafkatx.stages.exporting import fact_table

        return fact_table(self._found, self.verify_all, progress)

    def inputs(self) -> list[FileState]:
        """Every file that was met, as it is now: by that a later look tells whether it is still the same."""
        return file_states(source.item.path for source in sources(self._found))

    def diagnose(self, **options: Any) -> Diagnosis:
        """Say what went wrong; options as of `kafkatx.diagnose`."""
        return diagnose(self.paths, captures=self._forced, **{"verify_all": self.verify_all, **options})

    def history(self, **options: Any) -> Histories:
        """Tell what every transactional.id did; options as of `kafkatx.history`."""
        return history(self.paths, captures=self._forced, **{"verify_all": self.verify_all, **options})

    def locate(self, place: str | tuple[str, int, int], **options: Any) -> Locations:
        """Say what is at an offset, like `orders-0:118`; options as of `kafkatx.locate`."""
        return locate(self.paths, place, captures=self._forced, **options)

    def _stream(self, name: str, progress: Progress | None) -> Iterator[Any]:
        if name in FILE_TABLES:
            return file_rows(name, self._met(progress, [*sources(self._found, self.verify_all)]))
        found, log = self._found.captures, self._found.log
        if name == SETTINGS.name:
            return settings_table(found)
        if name == TRANSACTIONS.name:
            told = build_models(found, verify_all=self.verify_all, progress=progress, log=log)
            return interpreted.transaction_table(told)
        return self._of_diagnosis(name, progress)

    def _met(self, progress: Progress | None, found: list[Source]) -> Iterator[Source]:
        """Some files, of which `progress` is told first."""
        expect(progress, (source.item.size for source in found))
        for source in found:
            if progress:
                progress(source.item.path, source.item.size)
            yield source

    def _of_diagnosis(self, name: str, progress: Progress | None) -> Iterator[Any]:
        """Stream a table of a diagnosis, made once for all such tables; without evidence it has no rows."""
        if self._diagnosis is None:
            self._captures = []
            try:
                self._diagnosis = self.diagnose(progress=progress, show=self._keep)
            except NothingToDiagnoseError as error:
                self._diagnosis = error.diagnosis
        if name == CAPTURES.name:
            yield from self._captures
        else:
            yield from OF_DIAGNOSIS[name](self._diagnosis)

    def _keep(self, told: JudgedCapture, _: CaptureDiagnosis) -> None:
        self._captures += table_diagnosis.captures_table(told)


OF_DIAGNOSIS: dict[str, Callable[[Diagnosis], Iterator[Any]]] = {
    FINDINGS.name: table_diagnosis.finding_table,
    EVIDENCE.name: table_diagnosis.evidence_table,
    NOT_CHECKABLE.name: table_diagnosis.not_checkable_table,
    NEXT.name: table_diagnosis.next_table,
}
"""Tables that a diagnosis is told in."""


def _known(name: str) -> Any:
    if name not in TABLES:
        raise UsageError(f"there is no table {name!r}; the tables are {', '.join(TABLES)}")
    return TABLES[name]


def open(
    paths: str | Path | Iterable[str | Path], *, captures: dict[str, str] | None = None, verify_all: bool = False
) -> Evidence:
    """Open evidence: data directories of brokers, folders of several, partition folders, single files.

    Args:
        paths: one path or several.
        captures: path to name of the capture that it is forced into.
        verify_all: check the CRC of every batch, not only of those that matter.

    Raises:
        UsageError: a path does not exist.
    """
    given = [paths] if isinstance(paths, str | Path) else paths
    return Evidence(given, captures, verify_all)
