"""From a described operation to the function that plays it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

if TYPE_CHECKING:
    from github_server.hub import Hub

JSON = "application/json"


@dataclass(frozen=True)
class Request:
    """A request that fits the description. ``body`` is parsed JSON, None for none; ``login`` is None for no token."""

    method: str
    path: str
    parameters: Mapping[str, str]
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: Any
    login: str | None

    def number(self) -> int:
        """Return the issue's or pull request's number in the path."""
        return int(self.parameters.get("pull_number") or self.parameters["issue_number"])

    def wants(self, form: str) -> bool:
        """Return whether the Accept header asks for a form of the content: ``raw``."""
        return f".{form}" in self.headers.get("accept", "")


@dataclass(frozen=True)
class Answer:
    """An answer: ``body`` is JSON, or bytes of another media type, or None for no body."""

    status: int
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    media: str = JSON


class Refusal(Exception):  # noqa: N818 - an answer of the server, not an error of it
    """GitHub's refusal of a request; ``errors`` are the details of a failed validation."""

    def __init__(self, status: int, message: str, *errors: Mapping[str, Any]) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.errors = errors


def invalid(resource: str, field: str | None = None, code: str = "custom", message: str | None = None) -> Refusal:
    """Return the refusal ``Validation Failed`` with one detail."""
    facts = {"resource": resource, "code": code, "field": field, "message": message}
    return Refusal(422, "Validation Failed", {key: value for key, value in facts.items() if value is not None})


def not_found(what: str = "Not Found") -> Refusal:
    """Return the refusal of what is not there."""
    return Refusal(404, what)


Needs = str | Callable[["Hub", Request], str] | None
Handler = Callable[["Hub", Request], Answer]


@dataclass(frozen=True)
class Route:
    """A handler and the permission that it needs: ``contents``, ``issues``, ``pull_requests``, or found out later."""

    handler: Handler
    needs: Needs


ROUTES: dict[tuple[str, str], Route] = {}


def route(method: str, template: str, needs: Needs = None) -> Callable[[Handler], Handler]:
    """Register a handler under GitHub's own path template; ``/R/`` stands for the repository's part of it."""
    full = template.replace("/R", "/repos/{owner}/{repo}", 1) if template.startswith("/R") else template

    def register(handler: Handler) -> Handler:
        ROUTES[method, full] = Route(handler, needs)
        return handler

    return register


def page(hub: "Hub", request: Request, items: list[Any], size: int = 30) -> tuple[list[Any], dict[str, str]]:
    """Return the page of ``items`` that a request asks for, and the Link header to the others."""
    size = min(max(int(request.query.get("per_page", size)), 1), 100)
    number = max(int(request.query.get("page", 1)), 1)
    last = max(-(-len(items) // size), 1)
    others = {"prev": number - 1, "next": number + 1, "last": last, "first": 1}
    wanted = {
        rel: other
        for rel, other in others.items()
        if (1 <= other < number if rel in ("prev", "first") else number < other <= last)
    }
    links = [
        f'<{hub.url}{request.path}?{urlencode({**request.query, "page": other})}>; rel="{rel}"'
        for rel, other in wanted.items()
    ]
    return items[(number - 1) * size : number * size], {"Link": ", ".join(links)} if links else {}
