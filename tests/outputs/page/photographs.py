"""Takes the pictures of the page that README.md and the tutorial show: python -m tests.outputs.page.photographs.

Needs what the browser tests need. A page is of a case in `fixtures/`, and is photographed from one of its headings on.
"""

from __future__ import annotations

import io
import os
import tempfile
from pathlib import Path

from tests.cases.commands import run
from tests.evidence import ROOT
from tests.outputs.page.browser import chromium, visit

PICTURES = ROOT / "docs" / "pictures"
TAKEN = {
    "answer-light": ("fixtures/k39-fenced", "light", None, 590),
    "timelines-dark": ("fixtures/c3-stuck-prepare", "dark", "What happened when", 960),
}
"""By name: the case, the scheme, the heading that stands on top, the height."""
TO_THE_TOP = "one => scrollTo(0, one.getBoundingClientRect().top + scrollY - 20)"
WIDTH, SCALE, COLOURS = 1000, 2, 64


def main() -> None:
    """Take all pictures, in colours of a palette."""
    os.chdir(ROOT)
    PICTURES.mkdir(exist_ok=True)
    with chromium() as browser, tempfile.TemporaryDirectory() as folder:
        for name, (case, scheme, heading, height) in TAKEN.items():
            file = Path(folder, "incident.html")
            assert run("report", case, "--out", str(file)).code == 0
            with visit(browser, file, scheme, {"width": WIDTH, "height": height}, SCALE) as seen:
                if heading is not None:
                    seen.page.get_by_role("heading", name=heading).first.evaluate(TO_THE_TOP)
                written = _reduced(seen.page.screenshot())
            (PICTURES / f"{name}.png").write_bytes(written)
            print(f"{name}: {len(written):,} bytes")


def _reduced(png: bytes) -> bytes:
    from PIL import Image

    out = io.BytesIO()
    image = Image.open(io.BytesIO(png)).convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
    image.save(out, "PNG", optimize=True)
    return out.getvalue()


if __name__ == "__main__":
    main()
