"""Archives and compressed files: every kind, nested, damaged, hostile; opened by the path that is shown."""

import bz2
import gzip
import io
import lzma
import random
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import zstandard

from kafkatx.sources import archives
from kafkatx.sources.archives import Mounted, mount, packing, real_path, unpacked_places
from kafkatx.sources.files import OpenFile
from kafkatx.sources.packing import Packing
from kafkatx.sources.unpacking import Limits
from tests.evidence import ROOT

FILES = {
    "broker-1/orders-0/00000000000000000000.log": bytes(range(256)) * 40,
    "logs/server.log": b"[2026-11-21 10:23:51,003] INFO up\n" * 500,
    "empty.txt": b"",
}
NOISE = random.Random(1).randbytes(300_000)
COMPRESSIONS = {
    "gz": gzip.compress,
    "zst": zstandard.ZstdCompressor(write_content_size=False).compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
}


@pytest.fixture(autouse=True)
def nothing_stays() -> Iterator[None]:
    with unpacked_places():
        yield


def tar_of(files: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return out.getvalue()


def zip_of(files: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return out.getvalue()


def placed(folder: Path, name: str, data: bytes) -> str:
    path = folder / name
    path.write_bytes(data)
    return str(path)


def content(path: str) -> bytes:
    with OpenFile(path) as file:
        return file.read(0, file.size)


def shown(mounted: Mounted) -> dict[str, bytes]:
    """Every file of a mount by the path to show, read through that path."""
    found = [mounted.display(str(path)) for path in sorted(Path(mounted.root).rglob("*")) if path.is_file()]
    return {path: content(path) for path in found}


@pytest.mark.parametrize("compression", [None, *COMPRESSIONS])
def test_a_tar_of_any_compression_is_known_by_its_bytes_and_opened_by_shown_paths(
    tmp_path: Path, compression: str | None
) -> None:
    data = tar_of(FILES)
    path = placed(tmp_path, "evidence", COMPRESSIONS[compression](data) if compression else data)
    assert packing(path) is Packing.TAR
    mounted = mount(path)
    assert mounted.problems == ()
    assert shown(mounted) == {f"{path}!/{name}": data for name, data in FILES.items()}


def test_a_zip_is_read_and_a_program_in_a_zip_is_none(tmp_path: Path) -> None:
    path = placed(tmp_path, "evidence.txt", zip_of(FILES))
    assert packing(path) is Packing.ZIP
    assert shown(mount(path)) == {f"{path}!/{name}": data for name, data in FILES.items()}
    assert packing(placed(tmp_path, "clients.jar", zip_of({"META-INF/MANIFEST.MF": b"x"}))) is None


@pytest.mark.parametrize("compression", list(COMPRESSIONS))
def test_a_compressed_file_keeps_its_path_and_is_opened_unpacked(tmp_path: Path, compression: str) -> None:
    text = FILES["logs/server.log"]
    path = placed(tmp_path, "server.log.1", COMPRESSIONS[compression](text))
    assert content(path) == text
    mounted = mount(path)
    assert mounted.is_file
    assert mounted.display(mounted.root) == path
    assert content(path) == text


@pytest.mark.parametrize("compression", list(COMPRESSIONS))
def test_several_streams_in_one_file_are_one_content(tmp_path: Path, compression: str) -> None:
    compress = COMPRESSIONS[compression]
    assert content(placed(tmp_path, "a", compress(b"one\n") + compress(NOISE) + compress(b"two\n"))) == (
        b"one\n" + NOISE + b"two\n"
    )


@pytest.mark.parametrize("name", ["plain.log", "bundle.zip", "x.gz", "a.tar"])
def test_a_name_alone_makes_no_archive(tmp_path: Path, name: str) -> None:
    path = placed(tmp_path, name, b"\x00" * 8 + b"no archive at all\n")
    assert packing(path) is None
    assert mount(path) == Mounted(path, path, True)
    assert content(path) == b"\x00" * 8 + b"no archive at all\n"


def test_archives_in_archives_are_opened_two_levels_down_and_named_beyond(tmp_path: Path) -> None:
    deepest = zip_of({"d.txt": b"too deep"})
    inner = zip_of({"c.txt": b"third", "deepest.zip": deepest})
    middle = gzip.compress(tar_of({"b.txt": b"second", "inner.zip": inner, "b.log.gz": gzip.compress(b"log")}))
    path = placed(tmp_path, "top.zip", zip_of({"a.txt": b"first", "more/middle.tgz": middle}))
    assert content(f"{path}!/a.txt") == b"first"
    assert content(f"{path}!/more/middle.tgz!/b.txt") == b"second"
    assert content(f"{path}!/more/middle.tgz!/b.log.gz") == b"log"
    assert content(f"{path}!/more/middle.tgz!/inner.zip!/c.txt") == b"third"
    refused = mount(f"{path}!/more/middle.tgz!/inner.zip!/deepest.zip")
    assert "too deep" in refused.problems[0]
    assert list(Path(refused.root).iterdir()) == []


def test_another_process_opens_a_path_inside_an_archive(tmp_path: Path) -> None:
    path = placed(tmp_path, "bundle.tgz", gzip.compress(tar_of(FILES)))
    program = "import sys; from kafkatx.sources.files import read_small; print(len(read_small(sys.argv[1])))"
    inner = f"{path}!/logs/server.log"
    done = subprocess.run([sys.executable, "-c", program, inner], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.strip() == str(len(FILES["logs/server.log"]))


def test_a_path_that_looks_like_one_inside_an_archive_may_be_a_real_one(tmp_path: Path) -> None:
    folder = tmp_path / "odd!"
    folder.mkdir()
    assert content(placed(folder, "a.txt", b"real")) == b"real"
    assert real_path(str(tmp_path / "none.zip!" / "x")) == str(tmp_path / "none.zip!" / "x")
    with pytest.raises(OSError, match="none"):
        OpenFile(str(tmp_path / "none.zip!" / "x"))


@pytest.mark.parametrize("name", ["../evil.txt", "a/../../evil.txt", "/evil.txt", "C:/evil.txt"])
@pytest.mark.parametrize("pack", [tar_of, zip_of])
def test_a_member_that_leads_out_of_the_archive_is_left_out_by_name(tmp_path: Path, name: str, pack: object) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    path = placed(inside, "bundle", pack({name: b"evil", "good.txt": b"good"}))  # type: ignore[operator]
    mounted = mount(path)
    assert shown(mounted) == {f"{path}!/good.txt": b"good"}
    assert [name in problem and "left out" in problem for problem in mounted.problems] == [True]
    assert not list(tmp_path.rglob("evil.txt"))


def test_links_and_devices_are_left_out_by_name(tmp_path: Path) -> None:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE):
            member = tarfile.TarInfo(f"odd-{kind.decode()}")
            member.type, member.linkname = kind, "/etc/passwd"
            archive.addfile(member)
    mounted = mount(placed(tmp_path, "bundle.tar", out.getvalue()))
    assert [problem.split(":")[0] for problem in mounted.problems] == ["odd-2", "odd-1", "odd-3", "odd-6"]
    assert list(Path(mounted.root).iterdir()) == []
    link = zipfile.ZipInfo("odd")
    link.external_attr = 0o120777 << 16
    zipped = io.BytesIO()
    with zipfile.ZipFile(zipped, "w") as archive:
        archive.writestr(link, "/etc/passwd")
    assert "a link" in mount(placed(tmp_path, "bundle.zip", zipped.getvalue())).problems[0]


@pytest.mark.parametrize("compression", list(COMPRESSIONS))
def test_a_stream_cut_anywhere_gives_what_stands_before_and_says_so(tmp_path: Path, compression: str) -> None:
    text = b"".join(
        b"[2026-11-21 10:23:51,%03d] INFO %d\n" % (number % 1000, number * 7919) for number in range(40_000)
    )
    packed = COMPRESSIONS[compression](text)
    mounted = mount(placed(tmp_path, "cut", packed[: len(packed) * 2 // 3]))
    kept = content(mounted.path)
    assert text.startswith(kept)
    assert len(kept) > (len(text) // 3 if compression in ("gz", "zst") else -1)
    assert "cut off" in mounted.problems[0]


def test_a_stream_broken_in_the_middle_says_so(tmp_path: Path) -> None:
    packed = bytearray(gzip.compress(NOISE))
    packed[len(packed) // 2] ^= 0xFF
    mounted = mount(placed(tmp_path, "broken.gz", bytes(packed)))
    assert "broken" in mounted.problems[0]


def test_what_stands_behind_a_stream_and_is_none_is_named(tmp_path: Path) -> None:
    mounted = mount(placed(tmp_path, "more.gz", gzip.compress(b"text\n") + b"no stream at all"))
    assert content(mounted.path) == b"text\n"
    assert "behind" in mounted.problems[0]
    padded = mount(placed(tmp_path, "padded.gz", gzip.compress(b"text\n") + bytes(5000)))
    assert (content(padded.path), padded.problems) == (b"text\n", ())


@pytest.mark.parametrize("keep", [0.2, 0.5, 0.9])
def test_a_tar_cut_anywhere_gives_the_members_before(tmp_path: Path, keep: float) -> None:
    files = {f"{number}.txt": NOISE[: 20_000 + number] for number in range(10)}
    data = tar_of(files)
    mounted = mount(placed(tmp_path, "cut.tar", data[: int(len(data) * keep)]))
    found = {path.rpartition("!/")[2]: text for path, text in shown(mounted).items()}
    assert len(found) >= int(10 * keep)
    assert all(files[name].startswith(text) for name, text in found.items())
    assert "damaged" in mounted.problems[0]


def test_a_tar_with_a_broken_header_in_the_middle_says_so(tmp_path: Path) -> None:
    data = bytearray(tar_of({"a": b"a" * 5000, "b": b"b" * 50_000, "c": NOISE}))
    data[512 + 5120 + 148] ^= 0xFF
    mounted = mount(placed(tmp_path, "broken.tar", bytes(data)))
    assert shown(mounted) == {f"{mounted.path}!/a": b"a" * 5000}
    assert "damaged: the tar breaks behind a" in mounted.problems[0]


def test_a_zip_without_its_directory_is_read_by_its_members(tmp_path: Path) -> None:
    files = {"a.txt": b"a" * 5000, "b.bin": NOISE, "c.txt": b"c" * 10}
    whole = zip_of(files)
    mounted = mount(placed(tmp_path, "cut.zip", whole[: whole.rindex(b"PK\x01\x02", 0, whole.rindex(b"PK\x01\x02"))]))
    assert shown(mounted) == {f"{mounted.path}!/{name}": data for name, data in files.items()}
    assert "no directory" in mounted.problems[0]


def test_a_damaged_member_of_a_zip_does_not_keep_the_others_back(tmp_path: Path) -> None:
    data = bytearray(zip_of({"a.bin": NOISE, "b.txt": b"fine"}))
    data[1000] ^= 0xFF
    mounted = mount(placed(tmp_path, "broken.zip", bytes(data)))
    assert shown(mounted)[f"{mounted.path}!/b.txt"] == b"fine"
    assert mounted.problems[0].startswith("a.bin: damaged")


@pytest.mark.parametrize("compression", list(COMPRESSIONS))
def test_a_bomb_is_stopped_by_the_limit_with_a_clear_line(tmp_path: Path, compression: str) -> None:
    path = placed(tmp_path, "bomb", COMPRESSIONS[compression](bytes(60 << 20)))
    mounted = mount(path, Limits(smallest=20 << 20, ratio=10))
    assert "unpacks to more than" in mounted.problems[0]
    assert Path(mounted.root).stat().st_size <= 20 << 20


def test_zeros_in_an_archive_take_no_room_and_count_only_to_the_total(tmp_path: Path) -> None:
    index = bytes(10 << 20)
    path = placed(tmp_path, "data.tgz", gzip.compress(tar_of({f"{number}.index": index for number in range(5)})))
    mounted = mount(path, Limits(smallest=1 << 20, ratio=1))
    assert mounted.problems == ()
    inner = Path(mounted.root, "3.index").stat()
    assert inner.st_size == 10 << 20
    assert inner.st_blocks * 512 < 1 << 20
    again = placed(tmp_path, "bomb.tgz", gzip.compress(tar_of({"a": index, "b": index})))
    assert "unpacks to more than" in mount(again, Limits(total=65 << 20)).problems[0]


def test_a_header_that_claims_gigabytes_is_damage_and_takes_no_memory(tmp_path: Path) -> None:
    member = tarfile.TarInfo("././@PaxHeader")
    member.type, member.size = tarfile.XHDTYPE, 30 << 20
    data = gzip.compress(member.tobuf() + b"1" * member.size)
    mounted = mount(placed(tmp_path, "bomb.tar.gz", data))
    assert "header of more than" in mounted.problems[0]


def test_a_full_disk_is_told_before_it_is_full(tmp_path: Path) -> None:
    mounted = mount(placed(tmp_path, "a.tar", tar_of({"a": NOISE})), Limits(reserve=1 << 62))
    assert "no room on disk" in mounted.problems[0]


def test_a_kind_that_is_not_read_says_what_to_do(tmp_path: Path) -> None:
    mounted = mount(placed(tmp_path, "bundle.7z", b"7z\xbc\xaf\x27\x1c" + NOISE[:100]))
    assert "unpack it" in mounted.problems[0]


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_standard_input_is_text_or_compressed_text(pack: object, monkeypatch: pytest.MonkeyPatch) -> None:
    text = FILES["logs/server.log"]
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(pack(text))))  # type: ignore[operator]
    assert mount("-").is_file
    assert content("-") == text


def test_standard_input_may_be_an_archive(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(gzip.compress(tar_of(FILES)))))
    assert shown(mount("-")) == {f"-!/{name}": data for name, data in FILES.items()}


def test_nothing_stays_behind(tmp_path: Path) -> None:
    with unpacked_places():
        root = Path(mount(placed(tmp_path, "a.tar", tar_of(FILES))).root)
        assert root.is_dir()
    assert not root.exists()
    program = "import sys; from kafkatx.sources.archives import mount; print(mount(sys.argv[1]).root)"
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "a.tar")], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert not Path(done.stdout.strip()).exists()
    assert not Path(done.stdout.strip()).parent.exists()


def test_what_was_unpacked_is_counted_over_all_archives(tmp_path: Path) -> None:
    limits = Limits(total=500_000)
    assert mount(placed(tmp_path, "a.tar", tar_of({"a": NOISE})), limits).problems == ()
    assert "unpacks to more than" in mount(placed(tmp_path, "b.tar", tar_of({"a": NOISE})), limits).problems[0]
    assert archives.mount(str(tmp_path / "a.tar")).problems == ()
