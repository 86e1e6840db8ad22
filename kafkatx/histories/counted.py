"""What a model tells of the transactions that it counts instead of holding them (histories/plain_rows.py).

Where all are held, as in every capture that is not large, there are none.
"""

from __future__ import annotations

from dataclasses import field

import numpy as np

from kafkatx.kernels.growing import Array
from kafkatx.kernels.rows import COUNTED, COUNTED_ALONE, LISTED
from kafkatx.terms.records import dataclass


@dataclass(frozen=True, slots=True)
class Counted:
    """`rows` (dtype COUNTED): how many, by id and producer id; `listed` (dtype LISTED): partitions that they list.

    `alone` (dtype COUNTED_ALONE) are spans that no row owns, by producer id and partition.
    """

    rows: Array = field(default_factory=lambda: np.zeros(0, COUNTED))
    listed: Array = field(default_factory=lambda: np.zeros(0, LISTED))
    alone: Array = field(default_factory=lambda: np.zeros(0, COUNTED_ALONE))

    @property
    def transactions(self) -> int:
        """How many there are."""
        return int(self.rows["transactions"].sum())

    def of_id(self, id_code: int, producer_id: int | None = None) -> int:
        """How many there are of an id, or of one of its producer ids."""
        chosen = self.rows["id_code"] == id_code
        if producer_id is not None:
            chosen &= self.rows["producer_id"] == producer_id
        return int(self.rows["transactions"][chosen].sum())

    def by_id(self, ids: int) -> Array:
        """How many there are of each id; `ids` is how many ids there are."""
        found = np.zeros(ids, np.int64)
        np.add.at(found, self.rows["id_code"], self.rows["transactions"])
        return found

    def listed_by(self, id_code: int) -> set[int]:
        """Codes of the partitions that those of an id list."""
        return set(self.listed["partition_code"][self.listed["id_code"] == id_code].tolist())
