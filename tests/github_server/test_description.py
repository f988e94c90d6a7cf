"""The description is what is pinned, or the tests that need it are skipped with a reason."""

import tarfile
from pathlib import Path

import pytest

from github_server import description


def test_a_machine_without_npm_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(description.UnavailableError, match="npm is absent"):
        description._packed(tmp_path)


def test_an_npm_that_cannot_fetch_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    npm = tmp_path / "npm"
    npm.write_text("#!/bin/sh\necho first >&2\necho 'npm error network' >&2\nexit 1\n")
    npm.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(description.UnavailableError, match=r"could not fetch .*: npm error network"):
        description._packed(tmp_path)


def test_a_damaged_copy_is_not_used(tmp_path: Path) -> None:
    reason = description.why_unavailable()
    if reason:
        pytest.skip(reason)
    whole = (description.FOLDER / "api.github.com.json").read_bytes()
    path = tmp_path / "api.github.com.json"
    path.write_bytes(whole)
    assert description._cached(path) == whole
    path.write_bytes(whole[:-1])
    assert description._cached(path) is None
    path.unlink()
    assert description._cached(path) is None


def test_another_package_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "package.tgz"
    with tarfile.open(path, "w:gz") as archive:
        archive.add(__file__, description.MEMBER)
    with pytest.raises(ValueError, match="has the integrity sha512-"):
        description._member(path)


def test_without_it_a_test_is_skipped(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from github_server import github_server, server

    monkeypatch.setattr(server, "why_unavailable", lambda: "npm is absent")
    with pytest.raises(pytest.skip.Exception, match="npm is absent"), github_server(tmp_path, files={}):
        pass
