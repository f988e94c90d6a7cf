"""A run that is cancelled: the runner sends SIGINT, 7.5 s later SIGTERM, and kills 2.5 s after that."""

import signal

import pytest

from container.runner import Runner

pytestmark = pytest.mark.container

SECONDS_TO_END = 7.0
SIGNALS = {signal.SIGINT: 130, signal.SIGTERM: 143}
EMBEDDING = ".membench-cache/vectors/*.sqlite"


@pytest.mark.parametrize("number", SIGNALS)
def test_it_ends_in_time_and_leaves_nothing_half_written(runner: Runner, number: signal.Signals):
    step = runner.start({"corpus": "sample"})
    step.wait_for(EMBEDDING)
    assert step.send(number) < SECONDS_TO_END
    result = step.result()
    assert result.exit_code == SIGNALS[number], result.log
    assert "Traceback" not in result.log
    assert [name for name in result.files if name.startswith("membench-reports/")] == []
    assert [name for name in result.files if "/.membench-" in name] == []
    assert runner.of_another_owner() == []


def test_what_was_cached_before_the_end_is_whole(runner: Runner, warm_sample: Runner):
    inputs = {"corpus": "sample", "instances": "3"}
    step = runner.start(inputs)
    step.wait_for(EMBEDDING)
    step.send(signal.SIGTERM)
    assert step.result().exit_code == SIGNALS[signal.SIGTERM]
    again = runner.run(inputs)
    assert again.exit_code == 0, again.log
    (name,) = (name.replace(".provenance", "") for name in again.files if name.endswith(".provenance.json"))
    assert again.files[name].read_bytes() == warm_sample.run(inputs).files[name].read_bytes()


@pytest.mark.parametrize("number", SIGNALS)
def test_it_ends_while_setup_runs_and_so_does_setup(runner: Runner, number: signal.Signals):
    step = runner.start({"corpus": "sample", "setup": "touch begun; sleep 300; touch ended"})
    step.wait_for("begun")
    assert step.send(number) < SECONDS_TO_END
    result = step.result()
    assert result.exit_code == SIGNALS[number], result.log
    assert "ended" not in result.files
    assert runner.of_another_owner() == []
