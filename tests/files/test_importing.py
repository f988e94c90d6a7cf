import gzip
import hashlib
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from membench.errors import FetchError, StorageError
from membench.files.importing import import_file

CONTENT = bytes(range(256)) * 20_000
SHA256 = hashlib.sha256(CONTENT).hexdigest()
SIZE = len(CONTENT)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_the_pinned_file_is_copied(tmp_path: Path) -> None:
    (tmp_path / "source").write_bytes(CONTENT)
    seen: list[tuple[int, int | None]] = []
    import_file(
        tmp_path / "source", tmp_path / "deep" / "target", sha256=SHA256, size=SIZE, progress=lambda *p: seen.append(p)
    )
    assert (tmp_path / "deep" / "target").read_bytes() == CONTENT
    assert (tmp_path / "source").read_bytes() == CONTENT
    assert seen[-1] == (SIZE, SIZE)
    assert len(seen) > 1


def test_a_gzip_file_of_the_pinned_content_is_unpacked(tmp_path: Path) -> None:
    (tmp_path / "source.gz").write_bytes(gzip.compress(CONTENT))
    import_file(tmp_path / "source.gz", tmp_path / "target", sha256=SHA256, size=SIZE)
    assert (tmp_path / "target").read_bytes() == CONTENT


def test_a_gzip_file_that_is_itself_pinned_stays_packed(tmp_path: Path) -> None:
    packed = gzip.compress(CONTENT)
    (tmp_path / "source.gz").write_bytes(packed)
    import_file(tmp_path / "source.gz", tmp_path / "target", sha256=hashlib.sha256(packed).hexdigest(), size=None)
    assert (tmp_path / "target").read_bytes() == packed


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_other_bytes_of_the_right_length_are_refused(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    (tmp_path / "source").write_bytes(pack(CONTENT[::-1]))
    (tmp_path / "target").write_bytes(b"old")
    with pytest.raises(FetchError) as caught:
        import_file(tmp_path / "source", tmp_path / "target", sha256=SHA256, size=SIZE)
    assert f"expected SHA-256 {SHA256}" in caught.value.what
    assert f"found {hashlib.sha256(CONTENT[::-1]).hexdigest()}" in caught.value.what
    assert (tmp_path / "target").read_bytes() == b"old"
    assert names(tmp_path) == ["source", "target"]


def test_a_short_file_is_told_by_its_size(tmp_path: Path) -> None:
    (tmp_path / "source").write_bytes(CONTENT[:-1])
    with pytest.raises(FetchError, match=f"expected {SIZE} bytes, found {SIZE - 1}"):
        import_file(tmp_path / "source", tmp_path / "target", sha256=SHA256, size=SIZE)
    assert names(tmp_path) == ["source"]


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_long_file_is_given_up_early(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    (tmp_path / "source").write_bytes(pack(b"\0" * 50_000_000))
    seen: list[int] = []
    with pytest.raises(FetchError, match="expected 3000000 bytes, found more"):
        import_file(
            tmp_path / "source",
            tmp_path / "target",
            sha256=SHA256,
            size=3_000_000,
            progress=lambda done, _: seen.append(done),
        )
    assert max(seen) <= 3_000_000
    assert names(tmp_path) == ["source"]


def test_a_truncated_and_a_damaged_gzip_file_are_refused(tmp_path: Path) -> None:
    packed = gzip.compress(CONTENT)
    (tmp_path / "short.gz").write_bytes(packed[: len(packed) // 2])
    (tmp_path / "bad.gz").write_bytes(packed[:100] + bytes([packed[100] ^ 255]) * 50 + packed[150:])
    (tmp_path / "crc.gz").write_bytes(packed[:-8] + bytes(4) + packed[-4:])
    for name in ("short.gz", "bad.gz", "crc.gz"):
        with pytest.raises(FetchError, match=f"{name} is a damaged or truncated gzip file"):
            import_file(tmp_path / name, tmp_path / "target", sha256=SHA256, size=SIZE)
    assert names(tmp_path) == ["bad.gz", "crc.gz", "short.gz"]


def test_a_missing_source_and_a_folder_are_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="gone cannot be read: No such file"):
        import_file(tmp_path / "gone", tmp_path / "target", sha256=SHA256, size=SIZE)
    (tmp_path / "folder").mkdir()
    with pytest.raises(StorageError, match="folder cannot be read: Is a directory"):
        import_file(tmp_path / "folder", tmp_path / "target", sha256=SHA256, size=SIZE)


def test_a_full_target_is_told_by_the_targets_name(tmp_path: Path, start: Callable[..., subprocess.Popen[str]]) -> None:
    (tmp_path / "source").write_bytes(CONTENT)
    (tmp_path / "out").mkdir()
    process = start(
        """
        import resource, sys
        from pathlib import Path
        from membench.errors import StorageError
        from membench.files.importing import import_file
        resource.setrlimit(resource.RLIMIT_FSIZE, (2_000_000, 2_000_000))
        try:
            import_file(Path(sys.argv[1]), Path(sys.argv[2]), sha256=sys.argv[3], size=None)
        except StorageError as error:
            print(error)
        """,
        tmp_path / "source",
        tmp_path / "out" / "target",
        SHA256,
    )
    out, err = process.communicate(timeout=10)
    assert "target cannot be written: File too large" in out, err
    assert names(tmp_path / "out") == []
