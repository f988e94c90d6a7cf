"""The scripts of the release, as its workflow has them, in a repository with a remote.

`docker` and `gh` are stand-ins that write down how they were called.
"""

import os
import re
import shutil
import subprocess

import pytest
import workflow_files as files

NAME = ".github/workflows/release.yml"
DIGEST = "sha256:" + "0123456789abcdef" * 4
IMAGE = f"ghcr.io/membench/membench@{DIGEST}"
VERSION = re.search(r'^version = "(.+)"$', (files.ROOT / "pyproject.toml").read_text(), re.MULTILINE).group(1)
MAJOR = "v" + VERSION.split(".")[0]


def script(job):
    (step,) = [
        step
        for step in files.steps(files.jobs(NAME)[job])
        if step.get("env", {}).get("VERSION") and "git" in step["run"]
    ]
    return step["run"]


def git(where, *arguments):
    command = ["git", "-c", "user.name=test", "-c", "user.email=test@example.org", *arguments]
    return subprocess.run(command, cwd=where, check=True, capture_output=True, text=True).stdout


def stand_in(folder, name, text):
    path = folder / name
    path.write_text(f'#!/bin/sh\necho {name} "$@" >> calls\n{text}\n')
    path.chmod(0o755)


@pytest.fixture
def work(tmp_path):
    """A clone of a bare remote that holds what a release touches."""
    work = tmp_path / "work"
    work.mkdir()
    for name in ("action.yml", "README.md", "pyproject.toml", "Dockerfile"):
        shutil.copy(files.ROOT / name, work)
    for name in ("examples", ".github", "scripts"):
        shutil.copytree(files.ROOT / name, work / name)
    git(tmp_path, "init", "--quiet", "--bare", "remote")
    git(work, "init", "--quiet", "--initial-branch", "main")
    (work / ".git" / "info" / "exclude").write_text("calls\n")
    git(work, "add", "--all")
    git(work, "commit", "--quiet", "--message", "all")
    git(work, "remote", "add", "origin", str(tmp_path / "remote"))
    git(work, "push", "--quiet", "origin", "main")
    programs = tmp_path / "bin"
    programs.mkdir()
    stand_in(programs, "gh", "")
    stand_in(programs, "docker", f"""echo '"{DIGEST}"'""")
    return work


def run(job, work, **environment):
    environment = {
        "PATH": f"{work.parent / 'bin'}:{os.environ['PATH']}",
        "HOME": str(work.parent),
        "GITHUB_OUTPUT": str(work.parent / "output"),
        "GITHUB_REPOSITORY": "Membench/membench",
        "GITHUB_REF": "refs/heads/main",
        "DEFAULT_BRANCH": "main",
        "VERSION": VERSION,
        "REFERENCE": IMAGE,
        **environment,
    }
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script(job)]
    return subprocess.run(command, cwd=work, env=environment, capture_output=True, text=True, timeout=60)


def test_the_plan_resolves_the_base_image_to_a_digest(work):
    done = run("plan", work)
    assert done.returncode == 0, done.stderr
    base = re.search(r"(?m)^ARG BASE=([^@\n]+)", (files.ROOT / "Dockerfile").read_text()).group(1)
    assert (work.parent / "output").read_text() == f"image=ghcr.io/membench/membench\nbase={base}@{DIGEST}\n"
    assert f"docker buildx imagetools inspect {base}" in (work / "calls").read_text()


@pytest.mark.parametrize(
    ("environment", "reason"),
    [
        ({"VERSION": f"v{VERSION}"}, "without a v"),
        ({"VERSION": "9.9.9"}, "pyproject.toml has another version"),
        ({"GITHUB_REF": "refs/heads/other"}, "releases are made from main"),
    ],
)
def test_the_plan_refuses_what_cannot_be_released(work, environment, reason):
    done = run("plan", work, **environment)
    assert done.returncode == 1
    assert reason in done.stdout
    assert not (work / "calls").exists()


def test_the_plan_refuses_a_version_that_is_there(work):
    git(work, "push", "--quiet", "origin", f"HEAD:refs/tags/v{VERSION}")
    done = run("plan", work)
    assert done.returncode == 1
    assert f"v{VERSION} is there already" in done.stdout


def test_the_plan_fails_where_the_digest_cannot_be_read(work):
    stand_in(work.parent / "bin", "docker", "exit 1")
    assert run("plan", work).returncode != 0
    stand_in(work.parent / "bin", "docker", "echo Name: python")
    assert run("plan", work).returncode != 0
    assert not (work.parent / "output").exists()


def test_publishing_tags_a_commit_that_names_the_image_and_leaves_the_branch(work):
    remote, main = work.parent / "remote", git(work, "rev-parse", "main").strip()
    git(work, "push", "--quiet", "origin", f"{main}:refs/tags/{MAJOR}")
    done = run("publish", work)
    assert done.returncode == 0, done.stderr
    assert git(remote, "rev-parse", "main").strip() == main
    tagged = git(remote, "rev-parse", f"v{VERSION}^{{commit}}").strip()
    assert git(remote, "rev-parse", f"{MAJOR}^{{commit}}").strip() == tagged
    assert git(remote, "rev-parse", f"{tagged}^").strip() == main
    assert f"image: docker://{IMAGE}\n" in git(remote, "show", f"{tagged}:action.yml")
    changed = git(remote, "diff", "--name-only", main, tagged).splitlines()
    assert "action.yml" in changed
    assert not any(path.startswith(".github/") for path in changed)
    assert "gh auth setup-git\n" in (work / "calls").read_text()
    assert f"gh release create v{VERSION} --verify-tag" in (work / "calls").read_text()


def test_publishing_never_replaces_a_version(work):
    remote, main = work.parent / "remote", git(work, "rev-parse", "main").strip()
    git(work, "push", "--quiet", "origin", f"{main}:refs/tags/v{VERSION}")
    assert run("publish", work).returncode != 0
    assert git(remote, "tag").split() == [f"v{VERSION}"]
    assert git(remote, "rev-parse", f"v{VERSION}").strip() == main
    assert "gh release" not in (work / "calls").read_text()


def test_nothing_is_tagged_before_it_was_tried():
    jobs = files.jobs(NAME)
    assert set(jobs["publish"]["needs"]) == {"image", "try"}
    assert jobs["try"]["needs"] == "image"
    (own,) = files.own_steps(jobs["try"])
    assert own["with"]["baseline-pr"] == "false"


def test_only_what_publishes_may_write():
    writes = {
        job: {k for k, v in body["permissions"].items() if v == "write"} for job, body in files.jobs(NAME).items()
    }
    assert writes == {
        "plan": set(),
        "build": {"packages"},
        "image": {"packages", "id-token", "attestations"},
        "try": set(),
        "publish": {"contents"},
    }
