"""Whose token it is, what it may do, and how often."""

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from github_server.routing import Refusal, Request, Route

if TYPE_CHECKING:
    from github_server.hub import Hub

_HOUR = 3600
_INSTALLATION_LIMIT = 1000


@dataclass
class Rate:
    """The primary limit: requests that remain until ``reset``, in seconds of the real clock, for clients compare."""

    limit: int = _INSTALLATION_LIMIT
    remaining: int = _INSTALLATION_LIMIT
    reset: int = field(default_factory=lambda: int(time.time()) + _HOUR)

    def exhaust(self, seconds: float) -> None:
        """Let no request through for ``seconds``."""
        self.remaining, self.reset = 0, int(time.time() + seconds)

    def take(self) -> bool:
        """Take one request off and return whether it was there."""
        if time.time() >= self.reset:
            self.remaining, self.reset = self.limit, int(time.time()) + _HOUR
        allowed = self.remaining > 0
        self.remaining -= allowed
        return allowed

    def facts(self) -> dict[str, int]:
        """Return the limit as GitHub tells it."""
        used = self.limit - self.remaining
        return {"limit": self.limit, "remaining": self.remaining, "reset": self.reset, "used": used}

    def headers(self) -> dict[str, str]:
        """Return the headers that stand on every answer."""
        return {f"x-ratelimit-{key}": str(value) for key, value in self.facts().items()} | {
            "x-ratelimit-resource": "core"
        }


@dataclass
class Access:
    """``permissions`` are those of a workflow's token: ``write``, ``read`` or ``none`` for each of the three."""

    token: str
    permissions: dict[str, str] = field(
        default_factory=lambda: {"contents": "write", "issues": "write", "pull_requests": "write"}
    )
    rate: Rate = field(default_factory=Rate)

    def may_write(self, what: str) -> bool:
        """Return whether the token has a permission for writing."""
        return self.permissions.get(what) == "write"

    def login(self, header: str | None, token_login: str) -> str | None:
        """Return who a request's Authorization header stands for, None without one. Raises the refusal 401."""
        if not header:
            return None
        kind, _, token = header.partition(" ")
        if kind.lower() not in ("bearer", "token") or token.strip() != self.token:
            raise Refusal(401, "Bad credentials")
        return token_login

    def check(self, hub: "Hub", route: Route, request: Request) -> None:
        """Raise the refusal of a request that the token may not make."""
        reading = request.method == "GET"
        if request.login is None and (hub.private or not reading):
            raise Refusal(404, "Not Found") if hub.private else Refusal(401, "Requires authentication")
        needs = route.needs(hub, request) if callable(route.needs) else route.needs
        if needs is None or (reading and not hub.private):
            return
        allowed = self.permissions.get(needs, "none") != "none" if reading else self.may_write(needs)
        if not allowed:
            raise Refusal(403, "Resource not accessible by integration")
