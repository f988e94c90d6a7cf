"""The templates lie at the top of the project and in the wheel."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_the_wheel_ships_every_template(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "installed")
    shipped = tmp_path / "installed" / "membench" / "render" / "templates"
    ours = {path.name: path.read_bytes() for path in (ROOT / "templates").iterdir()}
    assert {path.name: path.read_bytes() for path in shipped.iterdir()} == ours
    code = "from membench.render.breakage import breakage_markdown; print(breakage_markdown('broken', 'a|b', None))"
    # In a folder of its own, so that what is imported is what was shipped.
    shown = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path / "installed",
        env={"PYTHONPATH": str(tmp_path / "installed"), "PATH": ""},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert "# membench: broken" in shown.stdout, shown.stderr
