"""The switch between the Dockerfile and a published image, run as a release runs it, on a copy."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from workflow_files import ROOT

DIGEST = "sha256:" + "0123456789abcdef" * 4
IMAGE = f"ghcr.io/membench/membench@{DIGEST}"
RELEASE = ["--image", IMAGE, "--ref", "v1.2.3"]


@pytest.fixture
def copy(tmp_path):
    for name in ("action.yml", "README.md"):
        shutil.copy(ROOT / name, tmp_path)
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    shutil.copytree(ROOT / ".github", tmp_path / ".github")
    return tmp_path


def point(root, *arguments):
    command = [sys.executable, str(ROOT / "scripts" / "point_action.py"), "--root", str(root), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=30)


def contents(root):
    return {path.relative_to(root): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def valid(schema, *paths):
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, *map(str, paths)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert run.returncode == 0, run.stdout + run.stderr


def test_a_release_names_the_image_by_digest_and_the_examples_its_tag(copy):
    before = contents(copy)
    run = point(copy, *RELEASE)
    assert (run.returncode, run.stderr) == (0, "")
    action = yaml.safe_load((copy / "action.yml").read_text())
    assert action["runs"] == {"using": "docker", "image": f"docker://{IMAGE}"}
    valid("vendor.github-actions", copy / "action.yml")
    examples = sorted((copy / "examples").rglob("*.yml"))
    valid("vendor.github-workflows", *examples)
    for example in examples:
        text = example.read_text()
        assert "@v1.2.3" in text
        assert "@main" not in text
    after = contents(copy)
    changed = {path for path, content in after.items() if content != before[path]}
    assert changed == set(map(Path, run.stdout.splitlines()))
    # The token of the release job may push no change of a workflow.
    assert not any(path.parts[0] == ".github" for path in changed)


def test_no_other_byte_changes(copy):
    before = contents(copy)
    point(copy, *RELEASE)
    for path, content in contents(copy).items():
        restored = content.replace(f"docker://{IMAGE}".encode(), b"Dockerfile").replace(b"@v1.2.3", b"@main")
        assert restored == before[path]


def test_the_same_again_changes_nothing(copy):
    point(copy, *RELEASE)
    before = contents(copy)
    run = point(copy, *RELEASE)
    assert (run.returncode, run.stdout) == (0, "")
    assert contents(copy) == before


def test_development_is_the_way_back(copy):
    before = contents(copy)
    point(copy, *RELEASE)
    run = point(copy, "--development")
    assert run.returncode == 0
    assert contents(copy) == before
    assert point(copy, "--development").stdout == ""


def test_a_release_follows_a_release(copy):
    point(copy, *RELEASE)
    other = IMAGE.replace("0123", "3210")
    assert point(copy, "--image", other, "--ref", "v1.3.0").returncode == 0
    assert f"docker://{other}\n" in (copy / "action.yml").read_text()
    assert "@v1.3.0" in (copy / "examples" / "workflows" / "gate.yml").read_text()


@pytest.mark.parametrize(
    "image",
    [
        "ghcr.io/membench/membench:latest",
        "ghcr.io/membench/membench:v1.2.3",
        "ghcr.io/membench/membench",
        f"ghcr.io/membench/membench:v1.2.3@{DIGEST}",
        f"docker://{IMAGE}",
        f"{IMAGE}0",
        IMAGE[:-1],
        IMAGE.replace("abcdef", "ABCDEF"),
        IMAGE.replace("sha256", "sha512"),
        f"{IMAGE}\n",
        f"membench@{DIGEST}",
        f"ghcr.io/Membench/membench@{DIGEST}",
    ],
)
def test_an_image_that_is_not_by_digest_is_refused(copy, image):
    before = contents(copy)
    run = point(copy, "--image", image, "--ref", "v1.2.3")
    assert run.returncode == 1
    assert "is not an image by digest" in run.stderr
    assert contents(copy) == before


@pytest.mark.parametrize("ref", ["main", "v1", "1.2.3", "v1.2.3-rc1", "v1.2.3\n", "v1.2.3 "])
def test_a_ref_that_is_no_release_is_refused(copy, ref):
    before = contents(copy)
    run = point(copy, "--image", IMAGE, "--ref", ref)
    assert run.returncode == 1
    assert "is not the tag of a release" in run.stderr
    assert contents(copy) == before


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("  image: Dockerfile", "  image: ./Dockerfile"),
        ("  image: Dockerfile", "  image: docker://ghcr.io/membench/membench:latest"),
        ("  image: Dockerfile", "  image: Dockerfile # built here"),
        ("  using: docker\n", "  using: composite\n"),
        ("  using: docker\n", "  using: docker\n  entrypoint: /run\n"),
        ("runs:\n", "runs:\n  using: docker\n  image: Dockerfile\nruns:\n"),
        ("\n", "\r\n"),
    ],
)
def test_an_action_that_is_not_as_expected_is_refused(copy, old, new):
    path = copy / "action.yml"
    text = path.read_bytes().decode()
    assert old in text
    path.write_bytes(text.replace(old, new).encode())
    before = contents(copy)
    run = point(copy, *RELEASE)
    assert run.returncode == 1
    assert "the one block that was expected" in run.stderr
    assert contents(copy) == before


def test_examples_that_are_gone_are_refused(copy):
    shutil.rmtree(copy / "examples")
    (copy / "README.md").write_text("nothing\n")
    run = point(copy, *RELEASE)
    assert run.returncode == 1
    assert "no example" in run.stderr


def test_a_repository_that_is_not_there_is_refused(tmp_path):
    run = point(tmp_path, *RELEASE)
    assert run.returncode == 1
    assert "action.yml" in run.stderr
    assert "Traceback" not in run.stderr


@pytest.mark.parametrize(
    "arguments",
    [[], ["--image", IMAGE], ["--ref", "v1.2.3"], ["--development", *RELEASE], ["--development", "--ref", "v1.2.3"]],
)
def test_half_a_call_is_a_wrong_one(copy, arguments):
    before = contents(copy)
    assert point(copy, *arguments).returncode == 2
    assert contents(copy) == before
