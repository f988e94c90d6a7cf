"""The caller's own command, run before anything is measured."""

import os
import shutil
import signal
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from membench.errors import SetupError

# The runner kills the container ten seconds after it first asks it to stop.
_SECONDS_TO_END = 2.0


def run_setup(command: str, workspace: Path, environment: Mapping[str, str]) -> None:
    """Runs ``command`` in a shell in ``workspace``; its output goes to the log as it comes.

    Raises SetupError where it fails. When this process is stopped meanwhile, so is all that the command has started.
    """
    bash = shutil.which("bash")
    shell = [bash, "-e", "-o", "pipefail", "-c"] if bash else ["/bin/sh", "-e", "-c"]
    with subprocess.Popen(  # noqa: S603
        [*shell, command], cwd=workspace, env=dict(environment), stdin=subprocess.DEVNULL, start_new_session=True
    ) as process:
        try:
            code = process.wait()
        except BaseException:
            _stop(process)
            raise
    if code:
        ended = f"exit code {code}" if code > 0 else f"signal {signal.Signals(-code).name}"
        raise SetupError(
            f"The setup command failed: {ended}",
            "Its output is in the log, in the group Setup; it ran in bash -e.",
        )


def _stop(process: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
    try:
        process.wait(_SECONDS_TO_END)
    except subprocess.TimeoutExpired:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
