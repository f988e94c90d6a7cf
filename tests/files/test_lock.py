import json
import os
import platform
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from membench.errors import BusyError, StorageError
from membench.files.lock import hold

Start = Callable[..., subprocess.Popen[str]]

HOLDER = """
import sys, time
from pathlib import Path
from membench.files.lock import hold
with hold(Path(sys.argv[1]), purpose="fetching", wait=0, notify=print):
    print("held", flush=True)
    time.sleep(float(sys.argv[2]))
print("released", flush=True)
"""


def held(start: Start, root: Path, seconds: float) -> subprocess.Popen[str]:
    process = start(HOLDER, root, seconds)
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def refuse(sentence: str) -> None:
    raise AssertionError(f"nobody holds it, yet: {sentence}")


def test_the_holder_is_told_while_it_holds_and_not_after(tmp_path: Path) -> None:
    root = tmp_path / "new"
    with hold(root, purpose="measuring", wait=0, notify=refuse):
        facts = json.loads((root / "lock.json").read_bytes())
        assert facts["pid"] == os.getpid()
        assert facts["host"] == platform.node()
        assert facts["purpose"] == "measuring"
        assert facts["since"].endswith("+00:00")
    assert not (root / "lock.json").exists()


def test_a_folder_that_stays_held_is_busy_and_names_its_holder(tmp_path: Path, start: Start) -> None:
    process = held(start, tmp_path, 60)
    facts = json.loads((tmp_path / "lock.json").read_bytes())
    said: list[str] = []
    begun = time.monotonic()
    with pytest.raises(BusyError) as caught, hold(tmp_path, purpose="second", wait=0.3, notify=said.append):
        pytest.fail("two hold the same folder")
    assert 0.3 <= time.monotonic() - begun < 3
    for text in (caught.value.what, said[0]):
        for fact in (f"process {process.pid} ", platform.node(), "fetching", facts["since"], "0.3 s", str(tmp_path)):
            assert fact in text
    assert len(said) == 1
    assert "MEMBENCH_CACHE" in str(caught.value.remedy)
    # The loser takes nothing away from the holder.
    assert json.loads((tmp_path / "lock.json").read_bytes()) == facts


def test_without_a_wait_it_is_busy_at_once_and_nobody_is_told_to_wait(tmp_path: Path, start: Start) -> None:
    held(start, tmp_path, 60)
    with pytest.raises(BusyError), hold(tmp_path, purpose="second", wait=0, notify=refuse):
        pytest.fail("two hold the same folder")


def test_a_folder_released_within_the_wait_is_taken(tmp_path: Path, start: Start) -> None:
    process = held(start, tmp_path, 0.3)
    said: list[str] = []
    with hold(tmp_path, purpose="second", wait=20, notify=said.append):
        assert json.loads((tmp_path / "lock.json").read_bytes())["pid"] == os.getpid()
    assert len(said) == 1
    assert process.wait(timeout=10) == 0


def test_a_crashed_holder_blocks_nobody(tmp_path: Path, start: Start) -> None:
    process = held(start, tmp_path, 60)
    process.kill()
    process.wait()
    assert json.loads((tmp_path / "lock.json").read_bytes())["pid"] == process.pid
    with hold(tmp_path, purpose="next", wait=0, notify=refuse):
        assert json.loads((tmp_path / "lock.json").read_bytes())["pid"] == os.getpid()


def test_an_interrupted_holder_releases(tmp_path: Path, start: Start) -> None:
    process = held(start, tmp_path, 60)
    process.send_signal(signal.SIGINT)
    process.wait()
    assert not (tmp_path / "lock.json").exists()
    with hold(tmp_path, purpose="next", wait=0, notify=refuse):
        pass


def test_a_body_that_fails_releases(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), hold(tmp_path, purpose="first", wait=0, notify=refuse):
        raise ZeroDivisionError
    with hold(tmp_path, purpose="second", wait=0, notify=refuse):
        pass


def test_the_same_process_cannot_hold_twice(tmp_path: Path) -> None:
    with (
        hold(tmp_path, purpose="outer", wait=0, notify=refuse),
        pytest.raises(BusyError, match="outer"),
        hold(tmp_path, purpose="inner", wait=0, notify=refuse),
    ):
        pytest.fail("held twice")


@pytest.mark.parametrize("note", [b"", b"[]", b'{"pid": 1}', b"\xff"])
def test_an_unreadable_note_still_gives_a_clear_refusal(tmp_path: Path, note: bytes) -> None:
    with hold(tmp_path, purpose="outer", wait=0, notify=refuse):
        (tmp_path / "lock.json").write_bytes(note)
        with (
            pytest.raises(BusyError, match="has not yet said who it is"),
            hold(tmp_path, purpose="inner", wait=0, notify=refuse),
        ):
            pytest.fail("held twice")


def test_a_folder_that_cannot_be_written_is_a_storage_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with (
        pytest.raises(StorageError, match="file cannot be written"),
        hold(tmp_path / "file", purpose="p", wait=0, notify=refuse),
    ):
        pytest.fail("held a file")


def test_a_lock_file_that_cannot_be_opened_is_a_storage_error(tmp_path: Path) -> None:
    (tmp_path / "lock").mkdir()
    with (
        pytest.raises(StorageError, match="lock cannot be written"),
        hold(tmp_path, purpose="p", wait=0, notify=refuse),
    ):
        pytest.fail("held a folder")
