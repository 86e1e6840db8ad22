"""Data directories that lost something: files, folders or brokers dropped, batches cut out, bytes damaged.

What stands in a trial: `case`, `cuts` as of `cutting.Loss`, `dropped` (paths below the case, or their beginnings),
`damage` (path and acts as of `mutations`), `beside` (what else of the case is given).
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

from kafkatx.terms.topics import TRANSACTION_STATE
from tests.cases.cutting import Image, Loss, Segment, image, with_losses
from tests.fuzz.mutations import OPS, act, mutated
from tests.fuzz.oracle import Trial, case_named, drawn_from, false_claims, told
from tests.fuzz.watching import again

BESIDE = ((), (), (), ("logs",), ("logs", "config"))


def drawn(seed: int, collection: bool = False) -> Trial:
    """Return the trial of a seed."""
    lot = random.Random(seed)
    case = lot.choice(drawn_from(collection))
    held = image(case)
    how = lot.choice(("cuts", "cuts", "dropped", "damage", "damage", "all"))
    paths = _paths(held)
    return {
        "case": case,
        "cuts": [_cut(lot, held) for _ in range(lot.choice((1, 1, 2, 3)))] if how in ("cuts", "all") else [],
        "dropped": [_drop(lot, paths) for _ in range(lot.choice((1, 2, 5)))] if how in ("dropped", "all") else [],
        "damage": [_damage(lot, held) for _ in range(lot.choice((1, 1, 3)))] if how in ("damage", "all") else [],
        "beside": list(lot.choice(BESIDE)),
    }


def _paths(held: Image) -> list[str]:
    segments = {f"{one.broker}.0/{one.folder}/{one.name}" for one in held.segments}
    return sorted(segments | {f"{broker}.0/{path}" for broker, files in held.others.items() for path in files})


def _chosen(lot: random.Random, held: Image) -> list[Segment]:
    """The copies of one segment; of the coordinator's log as often as of all others."""
    copies: dict[tuple[str, str], list[Segment]] = {}
    for one in held.segments:
        copies.setdefault((one.folder, one.name), []).append(one)
    states = sorted(place for place in copies if place[0].startswith(TRANSACTION_STATE))
    return copies[lot.choice(states if states and lot.random() < 0.5 else sorted(copies))]


def _cut(lot: random.Random, held: Image) -> list[object]:
    copies = _chosen(lot, held)
    batches = max(one.batches for one in copies)
    at = lot.randrange(max(1, batches))
    brokers = [one.broker for one in copies] if lot.random() < 0.6 else [lot.choice(copies).broker]
    inside = lot.choice((0, lot.randint(1, 60), lot.randint(1, 5_000)))
    end = lot.choice((batches, at + lot.randint(1, 3)))
    return [copies[0].folder, brokers, copies[0].name, at, inside, end]


def _drop(lot: random.Random, paths: list[str]) -> str:
    parts = lot.choice(paths).split("/")
    return "/".join(parts[: lot.choice((1, 2, 2, 2, 3, 3))])


def _damage(lot: random.Random, held: Image) -> list[object]:
    """Acts on one file; what a power cut leaves (zeros up to the end, or more of them) as often as all else."""
    one = lot.choice(_chosen(lot, held))
    starts = [position for position, _ in one.starts]
    made = act(lot, len(one.data), starts, ("torn", "zero", "tail") if lot.random() < 0.5 else tuple(sorted(OPS)))
    return [f"{one.broker}.0/{one.folder}/{one.name}", [made]]


def laid(trial: Trial, folder: Path) -> list[Path]:
    """Write the directories of a trial, and return what is given."""
    layout = with_losses(
        image(trial["case"]),
        [Loss(place, tuple(brokers), name, at, inside, end) for place, brokers, name, at, inside, end in trial["cuts"]],
    )
    for path, acts in trial["damage"]:
        root, _, file = path.partition("/")
        if (root, file) in layout.files:
            layout.files[root, file] = mutated(layout.files[root, file], acts)
    for gone in trial["dropped"]:
        for root, file in [place for place in layout.files if f"{'/'.join(place)}/".startswith(f"{gone}/")]:
            del layout.files[root, file]
    written = layout.write(folder)
    case = case_named(trial["case"])
    return [*(path for path in written if path.exists()), *(case / name for name in trial["beside"])]


def traced(trial: Trial) -> bool:
    """Whether all that is lost left a trace."""
    held = image(trial["case"])
    cuts = [Loss(place, tuple(of), name, at, inside, end) for place, of, name, at, inside, end in trial["cuts"]]
    return not trial["dropped"] and not trial["damage"] and all(cut.leaves_a_trace(held) for cut in cuts)


def faults(trial: Trial, folder: Path) -> Iterator[str]:
    """Say what went wrong with a trial, in a folder of its own."""
    paths = [path for path in laid(trial, folder) if path.exists()]
    again()
    if paths:
        yield from false_claims(trial["case"], told(paths), traced=traced(trial))
