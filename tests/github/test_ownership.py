"""What a container that runs as root leaves behind, and how Git is made to trust the workspace."""

import os
import subprocess

import pytest

from membench.github.ownership import give_back, trusting

RUNNER = 1001


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_what_root_made_goes_to_whom_the_folder_belongs(tmp_path):
    workspace, outside = tmp_path / "workspace", tmp_path / "outside"
    deep = workspace / "a" / "b"
    deep.mkdir(parents=True)
    (deep / "root.json").write_text("{}")
    (deep / "other").write_text("x")
    outside.write_text("x")
    (workspace / "link").symlink_to(outside)
    (workspace / "dangling").symlink_to(tmp_path / "nowhere")
    os.chown(workspace, RUNNER, RUNNER)
    os.chown(deep / "other", 1234, 1234)
    give_back([workspace, tmp_path / "absent"])
    owners = {path.name: path.lstat().st_uid for path in workspace.rglob("*")}
    assert owners == {"a": RUNNER, "b": RUNNER, "root.json": RUNNER, "other": 1234, "link": RUNNER, "dangling": RUNNER}
    assert outside.stat().st_uid == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_a_folder_of_roots_own_stays_as_it_is(tmp_path):
    (tmp_path / "x").write_text("x")
    give_back([tmp_path])
    assert (tmp_path / "x").stat().st_uid == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="needs a repository of another user's")
def test_git_trusts_the_workspace_and_no_configuration_file_changes(tmp_path):
    home, workspace = tmp_path / "home", tmp_path / "workspace"
    home.mkdir()
    subprocess.run(["git", "init", "--quiet", str(workspace)], check=True)
    for path in [workspace, *workspace.rglob("*")]:
        os.chown(path, RUNNER, RUNNER)
    before = {"PATH": os.environ["PATH"], "HOME": str(home), "GIT_CONFIG_NOSYSTEM": "1"}
    before |= {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "user.name", "GIT_CONFIG_VALUE_0": "Somebody"}
    status = ["git", "-C", str(workspace), "status"]
    assert b"dubious ownership" in subprocess.run(status, env=before, capture_output=True).stderr
    trusted = before | trusting(before, workspace)
    assert subprocess.run(status, env=trusted, capture_output=True).returncode == 0
    name = subprocess.run(["git", "config", "user.name"], env=trusted, capture_output=True, text=True).stdout
    assert name == "Somebody\n"
    assert list(home.iterdir()) == []
