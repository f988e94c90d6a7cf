import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from membench.errors import StorageError
from membench.files.atomic import atomic_path, ensure_writable, write_atomic, write_together

Start = Callable[..., subprocess.Popen[str]]


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_the_bytes_arrive_and_folders_are_made(tmp_path: Path) -> None:
    write_atomic(tmp_path / "a" / "b" / "f.json", b"new")
    assert (tmp_path / "a" / "b" / "f.json").read_bytes() == b"new"
    assert names(tmp_path / "a" / "b") == ["f.json"]


def test_an_old_file_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"a longer old text")
    write_atomic(tmp_path / "f", b"new")
    assert (tmp_path / "f").read_bytes() == b"new"
    assert names(tmp_path) == ["f"]


def test_the_file_has_the_rights_of_any_other_new_file(tmp_path: Path) -> None:
    (tmp_path / "plain").write_bytes(b"")
    write_atomic(tmp_path / "atomic", b"")
    assert (tmp_path / "atomic").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_a_path_below_a_file_is_refused_with_its_remedy(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(StorageError) as caught:
        write_atomic(tmp_path / "file" / "f", b"x")
    assert str(tmp_path / "file" / "f") in caught.value.what
    assert "folder is needed" in str(caught.value.remedy)


def test_a_folder_at_the_path_stays_and_no_temporary_file_does(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(StorageError, match="folder cannot be written"):
        write_atomic(tmp_path / "folder", b"x")
    assert names(tmp_path) == ["folder"]


def test_a_write_that_the_system_stops_leaves_the_old_file(tmp_path: Path, start: Start) -> None:
    (tmp_path / "f").write_bytes(b"old")
    process = start(
        """
        import resource, sys
        from pathlib import Path
        from membench.errors import StorageError
        from membench.files.atomic import write_atomic
        resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000))
        try:
            write_atomic(Path(sys.argv[1]), b"x" * 100_000)
        except StorageError as error:
            print(error)
        """,
        tmp_path / "f",
    )
    out, err = process.communicate(timeout=10)
    assert "f cannot be written: File too large" in out, err
    assert "ulimit" in out
    assert (tmp_path / "f").read_bytes() == b"old"
    assert names(tmp_path) == ["f"]


@pytest.mark.parametrize("thrown", [ValueError, KeyboardInterrupt])
def test_a_body_that_fails_leaves_the_old_file_alone(tmp_path: Path, thrown: type[BaseException]) -> None:
    (tmp_path / "f").write_bytes(b"old")
    with pytest.raises(thrown), atomic_path(tmp_path / "f") as temporary:
        temporary.write_bytes(b"half")
        raise thrown
    assert (tmp_path / "f").read_bytes() == b"old"
    assert names(tmp_path) == ["f"]


def test_the_body_writes_beside_the_target_with_its_suffix(tmp_path: Path) -> None:
    with atomic_path(tmp_path / "f.npy") as temporary:
        assert temporary.parent == tmp_path
        assert temporary.suffix == ".npy"
        temporary.write_bytes(b"whole")
        assert not (tmp_path / "f.npy").exists()
    assert names(tmp_path) == ["f.npy"]


def test_a_body_that_writes_nothing_is_a_storage_error(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="f cannot be written"), atomic_path(tmp_path / "f"):
        pass
    assert names(tmp_path) == []


def test_an_interrupt_in_mid_write_leaves_nothing(tmp_path: Path, start: Start) -> None:
    process = start(
        """
        import sys, time
        from pathlib import Path
        from membench.files.atomic import atomic_path
        with atomic_path(Path(sys.argv[1])) as temporary, temporary.open("wb") as file:
            file.write(b"half")
            file.flush()
            print("writing", flush=True)
            time.sleep(60)
        """,
        tmp_path / "f",
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "writing\n"
    assert len(names(tmp_path)) == 1
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=10)
    assert "KeyboardInterrupt" in err
    assert names(tmp_path) == []


def test_a_killed_writer_leaves_no_file_at_the_path(tmp_path: Path, start: Start) -> None:
    (tmp_path / "f").write_bytes(b"old")
    process = start(
        """
        import sys
        from pathlib import Path
        from membench.files.atomic import write_atomic
        print("writing", flush=True)
        while True:
            for letter in (b"a", b"b"):
                write_atomic(Path(sys.argv[1]), letter * 300_000)
        """,
        tmp_path / "f",
    )
    assert process.stdout is not None
    process.stdout.readline()
    while (tmp_path / "f").stat().st_size == 3:
        assert process.poll() is None
    for _ in range(60):
        seen = (tmp_path / "f").read_bytes()
        assert len(seen) == 300_000
        assert len(set(seen)) == 1
    process.kill()
    process.wait()
    seen = (tmp_path / "f").read_bytes()
    assert len(seen) == 300_000
    assert len(set(seen)) == 1


def test_a_writable_folder_is_made_and_left_empty(tmp_path: Path) -> None:
    ensure_writable(tmp_path / "a" / "b")
    assert names(tmp_path / "a" / "b") == []


def test_a_folder_that_takes_no_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(StorageError, match="file cannot be written"):
        ensure_writable(tmp_path / "file")
    if Path("/proc/self").is_dir():
        with pytest.raises(StorageError, match="/proc/self cannot be written"):
            ensure_writable(Path("/proc/self"))


def test_several_files_are_put_in_place_together_or_not_at_all(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    write_together({first: b"old", second: b"old"})
    assert (first.read_bytes(), second.read_bytes()) == (b"old", b"old")
    (tmp_path / "file").touch()
    with pytest.raises(StorageError, match="file/third"):
        write_together({first: b"new", second: b"new", tmp_path / "file" / "third": b"new"})
    assert (first.read_bytes(), second.read_bytes()) == (b"old", b"old")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "first", "second"]
