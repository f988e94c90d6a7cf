"""What is asked for wrongly, what is absent, and what stops a run: exit codes, messages, and no report."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from membench.files.lock import hold

SMALL = ("retrieval", "sample", "--instances", "1", "--queries", "8", "--memory", "bm25")

# Arguments, exit code, and what standard error has to say.
REFUSED = {
    "unknown option": (("retrieval", "sample", "--bogus"), 2, ["--bogus"]),
    "unknown verb": (("measure", "sample"), 2, ["measure"]),
    "no corpus": (("retrieval",), 2, ["corpus"]),
    "unknown corpus": (("retrieval", "locomo"), 2, ["unknown corpus 'locomo'", "Did you mean locomo10?"]),
    "unknown timeline": (("retrieval", "sample", "--timeline", "never"), 2, ["--timeline never", "anchored"]),
    "unknown granularity": (("retrieval", "sample", "--granularity", "page"), 2, ["page", "turn"]),
    "unknown memory": (("retrieval", "sample", "--memory", "epsiodic"), 2, ["Did you mean episodic?"]),
    "unknown memory option": (
        ("retrieval", "sample", "--memory-option", "decay=1"),
        2,
        ["no option 'decay'", "Did you mean decay_rate?"],
    ),
    "memory option without a value": (("retrieval", "sample", "--memory-option", "mmr"), 2, ["expected name=value"]),
    "memory option with a bad value": (
        ("retrieval", "sample", "--memory-option", "mmr_lambda=2"),
        2,
        ["The memory option mmr_lambda=2", "less than or equal to 1", "mmr_lambda=0.6"],
    ),
    "memory option twice": (
        ("retrieval", "sample", "--memory-option", "mmr=on", "--memory-option", "mmr=off"),
        2,
        ["mmr is given twice"],
    ),
    "unknown model": (("retrieval", "sample", "--model", "all-minilm"), 2, ["Did you mean all-minilm-l6-v2?"]),
    "absent model file": (("retrieval", "sample", "--model", "mine.gguf"), 1, ["no model file at mine.gguf"]),
    "model not fetched": (
        ("retrieval", "sample", "--model", "bge-small-en-v1.5"),
        1,
        ["Run: membench fetch bge-small-en-v1.5"],
    ),
    "window that the model lacks": (
        ("retrieval", "sample", "--input-window", "513"),
        2,
        ["--input-window 513", "from 4 to 512"],
    ),
    "malformed date": (
        ("retrieval", "sample", "--timeline", "literal", "--as-of", "yesterday"),
        2,
        ["--as-of yesterday: expected a date such as 2024-01-31"],
    ),
    "literal without a date": (("retrieval", "sample", "--timeline", "literal"), 2, ["--as-of"]),
    "no instances": (("retrieval", "sample", "--instances", "0"), 2, ["--instances"]),
    "repaired gold elsewhere": (("retrieval", "sample", "--gold", "repaired"), 2, ["repaired", "LoCoMo"]),
    "corpus not fetched": (("retrieval", "locomo10"), 1, ["the corpus locomo10", "Run: membench fetch locomo10"]),
    "absent file": (("retrieval", "mine.json", "--format", "locomo"), 1, ["mine.json"]),
    "file without a format": (("retrieval", "here.json"), 2, ["here.json", "--format"]),
    "file of another format": (("retrieval", "here.json", "--format", "locomo"), 1, ["here.json"]),
    "reports where a file stands": (
        ("retrieval", "sample", "--report-dir", "here.json"),
        1,
        ["here.json cannot be written", "A file stands where a folder is needed"],
    ),
    "fetch of an unknown key": (("fetch", "locomo"), 2, ["no corpus or model 'locomo'", "locomo10"]),
    "fetch from nowhere": (("fetch", "locomo10", "--from", "none.json"), 1, ["none.json"]),
    "fetch from a wrong file": (
        ("fetch", "locomo10", "--from", "here.json"),
        1,
        ["here.json", "expected", "found"],
    ),
    "unknown schema": (("schema", "everything"), 2, ["everything", "measurement"]),
}


@pytest.fixture(scope="module")
def refused(new_command):
    command = new_command()
    (command.folder / "here.json").write_text('{"here": []}')
    finished = command.all([arguments for arguments, _, _ in REFUSED.values()])
    return command, dict(zip(REFUSED, finished, strict=True))


@pytest.mark.parametrize("case", REFUSED)
def test_refusals_have_their_exit_code_and_say_what_is_wrong(case, refused):
    _, finished = refused
    _, code, expected = REFUSED[case]
    assert finished[case].returncode == code, finished[case].stderr
    for words in expected:
        assert words in finished[case].stderr
    assert finished[case].stdout == ""


def test_refusals_write_no_report_and_take_nothing_into_the_cache(refused):
    command, _ = refused
    assert command.reports() == []
    assert (command.folder / "here.json").read_text() == '{"here": []}'
    assert list(command.cache.glob("corpora/*")) == []


def test_a_wrong_file_of_the_right_size_is_told_by_its_digest(membench):
    (membench.folder / "wrong.json").write_bytes(b" " * 2_805_274)
    finished = membench("fetch", "locomo10", "--from", "wrong.json")
    assert finished.returncode == 1
    assert (
        "expected SHA-256 79fa87e90f04081343b8c8debecb80a9a6842b76a7aa537dc9fdf651ea698ff4, found " in finished.stderr
    )
    assert list(membench.cache.glob("corpora/*")) == []


def test_a_report_folder_that_cannot_be_written_fails_before_the_model_is_loaded(membench):
    (membench.folder / "taken").write_text("")
    for model in (membench.cache / "models").iterdir():
        model.unlink()
    finished = membench("retrieval", "sample", "--report-dir", "taken/reports")
    assert finished.returncode == 1
    assert "taken/reports cannot be written" in finished.stderr


def test_a_disk_that_fills_up_while_reports_are_written_leaves_no_measurement(membench):
    finished = membench(*SMALL, largest_file=8_000)
    assert finished.returncode == 1
    assert "json cannot be written: File too large" in finished.stderr
    assert "Raise the limit on the size of a file" in finished.stderr
    assert finished.stdout == ""
    assert membench.reports() == []


# One run at a time.


def test_a_second_run_waits_for_the_holder_whom_it_names(membench):
    with hold(membench.cache, purpose="membench retrieval locomo10", wait=0, notify=print):
        waiting = membench.start(*SMALL, "--wait", "60")
        assert waiting.stderr is not None
        notice = waiting.stderr.readline()
        assert f"held by process {os.getpid()} on " in notice
        assert "membench retrieval locomo10" in notice
        assert "waiting up to 60 s" in notice
        assert membench.reports() == []
    finished = membench.finish(waiting)
    assert finished.returncode == 0, finished.stderr
    assert len(membench.reports()) == 4


def test_without_waiting_a_second_run_is_refused(membench):
    with hold(membench.cache, purpose="membench fetch locomo10", wait=0, notify=print):
        finished = membench(*SMALL, "--wait", "0")
    assert finished.returncode == 1
    assert f"held by process {os.getpid()} on " in finished.stderr
    assert "membench fetch locomo10" in finished.stderr
    assert membench.reports() == []


# Interrupted.


def until(condition, process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupt_in_mid_run_is_one_line_and_leaves_nothing(membench, tmp_path, monkeypatch, sent, code):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    process = membench.start("retrieval", "sample", "--workers", "1")
    # The write-ahead log grows with every 64 vectors: the run is in its ingest.
    until(lambda: any(log.stat().st_size > 300_000 for log in membench.cache.glob("vectors/*-wal")), process)
    process.send_signal(sent)
    finished = membench.finish(process)
    assert finished.returncode == code
    assert list(tmp_path.glob("membench-*")) == []
    assert finished.stderr == "Interrupted. What was embedded and measured is kept; no unfinished report was written.\n"
    assert finished.stdout == ""
    assert membench.reports() == []
    assert [path for path in membench.cache.iterdir() if path.name == "lock.json"] == []
    # What was embedded is kept, and the folder is free again.
    again = membench("retrieval", "sample", "--instances", "1", "--queries", "8", "--wait", "0", "--json")
    assert again.returncode == 0, again.stderr
    (summary,) = json.loads(again.stdout)
    provenance = json.loads(Path(membench.folder / summary["measurement"]).with_suffix(".provenance.json").read_text())
    assert provenance["embedding"]["cached"] >= 64
