"""The caller's own command."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from membench.errors import SetupError
from membench.github.setup import run_setup


def test_it_runs_in_the_workspace_with_the_environment(tmp_path, capfd):
    run_setup("pwd; echo $WORD | cat; read -r line || echo no input", tmp_path, {**os.environ, "WORD": "hello"})
    assert capfd.readouterr().out.splitlines() == [str(tmp_path), "hello", "no input"]


@pytest.mark.parametrize("command", ["false\necho on", "false | cat", "exit 7", "no-such-command-here", "kill -9 $$"])
def test_a_failure_of_any_line_is_breakage(tmp_path, command):
    with pytest.raises(SetupError, match=r"The setup command failed: (exit code|signal)") as caught:
        run_setup(command, tmp_path, os.environ)
    assert caught.value.exit_code == 1


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_what_it_has_started_ends_with_the_run(tmp_path, stop):
    program = textwrap.dedent(
        """
        import os, signal, sys
        from pathlib import Path
        from membench.github.setup import run_setup
        from membench.terminal.process import run_process
        signal.signal(signal.SIGINT, signal.default_int_handler)
        run_process(lambda: run_setup("sleep 60 & echo $! > pid; wait", Path.cwd(), os.environ), "")
        """
    )
    process = subprocess.Popen([sys.executable, "-c", program], cwd=tmp_path, stderr=subprocess.PIPE)
    pid = tmp_path / "pid"
    deadline = time.monotonic() + 30
    while not (pid.exists() and pid.read_text().strip()) and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(stop)
    assert process.wait(timeout=7) == 128 + stop
    child = Path("/proc") / pid.read_text().strip() / "stat"
    state = child.read_text().rsplit(")", 1)[1].split()[0] if child.exists() else "gone"
    assert state in ("gone", "Z")
