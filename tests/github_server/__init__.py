"""A local GitHub for tests: the REST API in front of a real bare git repository, checked against GitHub's description.

    with github_server(tmp_path / "hub", files={"README.md": b"hello"}) as hub:
        github = Github(base_url=hub.url, auth=Auth.Token(hub.token), seconds_between_requests=0)

Every request and every answer is checked against GitHub's own OpenAPI description; what does not fit is collected in
``hub.violations``, which the fixture ``hub`` of ``fixtures.py`` asserts to be empty. What GitHub describes and this
server does not play (trees within trees, renames in a comparison, review comments, milestones) is a violation too, so
that no test goes on with an answer that was made up.
"""

from github_server.hub import Hub
from github_server.server import github_server

__all__ = ["Hub", "github_server"]
