"""What is in the image, and what is not."""

import pytest

from container.engine import Engine
from membench.embedding.catalog import DEFAULT_MODEL, MODELS

pytestmark = pytest.mark.container

LARGEST = 500_000_000


def test_it_is_under_500_mb(engine: Engine, capsys: pytest.CaptureFixture[str]):
    size = int(engine.shell("du -sx --apparent-size --block-size=1 / 2>/dev/null | cut -f1"))
    with capsys.disabled():
        print(f"\nimage: {size / 1e6:.0f} MB")
    assert size < LARGEST


def test_no_compiler_is_left_in_it(engine: Engine):
    tools = "cc gcc g++ c++ clang ld as cmake make ninja"
    assert engine.shell(f"for tool in {tools}; do command -v $tool || true; done; find / -xdev -name 'cc1*'") == ""


def test_it_carries_the_default_model_to_the_byte(engine: Engine):
    pin = MODELS[DEFAULT_MODEL]
    found = engine.shell('sha256sum "$MEMBENCH_BUNDLED"/models/*')
    assert found.split() == [pin.sha256, f"/opt/membench/models/{pin.sha256}.gguf"]


def test_a_setup_command_has_git_and_a_pip_that_installs_beside_membench(engine: Engine):
    listed = engine.shell("git --version && python3 -m pip --python /opt/membench/venv/bin/python list")
    assert listed.startswith("git version")
    assert "membench" in listed


def test_starting_up_compiles_nothing(engine: Engine):
    stale = engine.shell("find /opt/membench -name '*.py' | grep -v -e /bin/ -e entrypoint.py | wc -l")
    compiled = engine.shell("find /opt/membench -name '*.pyc' | wc -l")
    assert int(stale) == int(compiled)
