"""The check against GitHub's description: that it lets pass what is right, and nothing else."""

from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest
import requests

from github_server import answers, routes_repository
from github_server.fixtures import checked_hub
from github_server.hub import Hub


def asked(hub: Hub, method: str, path: str, **more: Any) -> tuple[int, list[str]]:
    """Return the status of a request and the violations it made, which are taken off the hub."""
    headers = {"Authorization": f"Bearer {hub.token}"}
    address = hub.url + path.replace("/R", f"/repos/{hub.full_name}", 1)
    status = requests.request(method, address, headers=headers, timeout=5, **more).status_code
    wrong, hub.violations[:] = list(hub.violations), []
    return status, wrong


@pytest.mark.parametrize(
    ("method", "path", "more", "expected"),
    [
        ("GET", "/R/nothing", {}, "no such operation"),
        ("GET", "/R/git/refs", {}, "no such operation"),
        ("GET", "/R/pulls?stat=open", {}, "query parameter stat is not described"),
        ("GET", "/R/pulls?state=opened", {}, "query parameter state: 'opened' is not one of"),
        ("GET", "/R/pulls?per_page=ten", {}, "query parameter per_page: 'ten' is not of type 'integer'"),
        ("GET", "/R/pulls?state=all&state=open", {}, "given 2 times"),
        ("GET", "/R/pulls/one", {}, "path parameter pull_number: 'one' is not of type 'integer'"),
        ("POST", "/R/git/refs", {}, "the body is missing"),
        ("POST", "/R/git/refs", {"json": {"ref": "refs/heads/x"}}, "'sha' is a required property"),
        ("POST", "/R/git/refs", {"json": {"ref": "refs/heads/x", "sha": 1}}, "body.sha: 1 is not of type 'string'"),
        ("POST", "/R/git/refs", {"data": "{"}, "the body is not JSON"),
        ("POST", "/R/pulls", {"json": {"head": "b", "base": "main", "drafts": True}}, "field drafts of the body"),
        ("PATCH", "/R/pulls/1", {"json": {"state": "merged"}}, "body.state: 'merged' is not one of"),
        ("DELETE", "/R/git/refs/heads/b", {"json": {"a": 1}}, "a body is not described"),
        ("GET", "/R/milestones", {}, "does not play"),
        ("GET", "/R/commits?author=ada", {}, "does not play"),
    ],
)
def test_a_bad_request_is_a_violation(hub: Hub, method: str, path: str, more: dict[str, Any], expected: str) -> None:
    status, wrong = asked(hub, method, path, **more)
    assert status in (404, 422, 501)
    assert len(wrong) == 1
    assert expected in wrong[0]


def test_a_good_request_is_none(hub: Hub) -> None:
    assert asked(hub, "GET", "/R/pulls?state=all&per_page=5") == (200, [])
    assert asked(hub, "GET", "/R/branches/main") == (200, [])
    # Refused, and yet as described.
    assert asked(hub, "GET", "/R/branches/none") == (404, [])


def test_a_bad_answer_is_a_violation(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    real = answers.repository

    def wrong(hub: Hub, full: bool = False) -> dict[str, Any]:
        return real(hub, full) | {"private": "no", "node_id": None}

    monkeypatch.setattr(routes_repository.answers, "repository", wrong)
    status, violations = asked(hub, "GET", "/R")
    assert status == 200
    assert any("answer.private: 'no' is not of type 'boolean'" in it for it in violations)
    assert any("answer.node_id" in it for it in violations)
    monkeypatch.setattr(routes_repository.answers, "repository", lambda hub, full: {"id": 1})
    assert any("'archive_url' is a required property" in it for it in asked(hub, "GET", "/R")[1])


def test_a_status_that_is_not_described_is_a_violation(hub: Hub) -> None:
    operation = hub.contract.operation("GET", "/repos/a/b/branches/main")
    assert operation is not None
    assert hub.contract.check_answer(operation, 418, "application/json", {}) == ["the status 418 is not described"]
    assert hub.contract.check_answer(operation, 204, "application/json", None) != []
    assert hub.contract.check_answer(operation, 403, "application/json", {"message": "no"}) == []
    assert hub.contract.check_answer(operation, 403, "application/json", {"message": 1}) != []


def test_the_most_literal_operation_is_meant(hub: Hub) -> None:
    def template(method: str, path: str) -> str | None:
        found = hub.contract.operation(method, path)
        return found.template.replace("/repos/{owner}/{repo}", "/R") if found else None

    assert template("GET", "/repos/a/b/branches/x/y") == "/R/branches/{branch}"
    assert template("GET", "/repos/a/b/branches/x/protection") == "/R/branches/{branch}/protection"
    assert template("GET", "/repos/a/b/issues/comments/5") == "/R/issues/comments/{comment_id}"
    assert template("GET", "/repos/a/b/compare/main...x/y") == "/R/compare/{basehead}"
    assert template("GET", "/repos/a/b/contents/") == "/R/contents/{path}"
    assert template("GET", "/repos/a/b/git/ref/") is None


def test_a_path_comes_decoded(hub: Hub) -> None:
    found = hub.contract.operation("GET", "/repos/a/b/contents/x%20y/%C3%A4")
    assert found is not None
    assert found.path["path"] == "x y/ä"


def test_without_a_user_agent(hub: Hub) -> None:
    connection = HTTPConnection(hub.url.removeprefix("http://"), timeout=5)
    connection.request("GET", f"/repos/{hub.full_name}", headers={"Authorization": f"Bearer {hub.token}"})
    assert connection.getresponse().status == 422
    connection.close()
    assert [it.rpartition(": ")[2] for it in hub.violations] == ["the header User-Agent is missing"]
    hub.violations.clear()


def test_a_server_that_breaks_tells_so(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(routes_repository.answers, "repository", lambda hub, full: 1 / 0)
    status, wrong = asked(hub, "GET", "/R")
    assert status == 500
    assert "ZeroDivisionError" in wrong[0]


def test_the_fixture_fails_for_a_violation(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="no such operation"), checked_hub(tmp_path / "hub") as hub:
        requests.get(f"{hub.url}/nothing", timeout=5)
