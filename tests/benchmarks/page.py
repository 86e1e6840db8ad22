"""The page of a large cluster in a browser: when its first content is painted, by the browser's own clock.

    python -m tests.benchmarks.report page

Needs what the browser tests need (CONTRIBUTING.md); the cluster has a thousand ids and a hundred thousand transactions.
"""

from collections.abc import Iterator

from tests.benchmarks import cases, measure
from tests.benchmarks.comparisons import Figure
from tests.outputs.page.browser import WINDOWS, chromium, missing, visit

FIRST_PAINT_MS = 2_000
MOST_MIB = 5_000_000 / 2**20


def page() -> Iterator[Figure]:
    """What writing the page costs, how large it is, and when it is seen: the slowest of several openings."""
    if why := missing():
        raise measure.CommandFailed(why)
    evidence = cases.crowd()
    file = evidence.parent / f"{evidence.name}.html"
    usage = measure.run(measure.kafkatx("report", str(evidence), "--out", str(file), "--quiet"))
    mib = file.stat().st_size / 2**20
    what = f"page of {cases.CROWD_IDS:,} ids, {cases.CROWD_TRANSACTIONS:,} transactions"
    yield Figure(what, f"{mib:.2f} MiB", "", f"written in {usage.cpu_s:.1f} s CPU", "< 5 MB", mib < MOST_MIB)
    with chromium() as browser:
        for name, window in WINDOWS.items():
            paints, shifts = [], []
            for _ in range(cases.runs()):
                with visit(browser, file, window=window) as seen:
                    shifts.append(seen.shift)
                    paints.append(seen.first_paint_ms)
            holds = max(paints) < FIRST_PAINT_MS and not any(shifts)
            across = f"Chromium {browser.version}, {window['width']} px"
            told = f"{min(paints):.0f} to {max(paints):.0f} ms"
            yield Figure(f"first contentful paint, {name}", told, across, f"shift {max(shifts):g}", "< 2 s", holds)
