"""One request from its parsed bytes to its answer, with every check on the way."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qs, urlsplit

from github_server import routes_account, routes_git, routes_issues, routes_pulls, routes_repository  # noqa: F401
from github_server.contract import Operation
from github_server.faults import Fault
from github_server.hub import Hub, Logged
from github_server.routing import JSON, ROUTES, Answer, Refusal, Request

_RATE_LIMIT_PAGE = "https://docs.github.com/rest/overview/rate-limits-for-the-rest-api"


class Exchange:
    """One request and how it is answered."""

    def __init__(self, hub: Hub, method: str, target: str, headers: Mapping[str, str], data: bytes) -> None:
        parts = urlsplit(target)
        self.hub, self.method, self.path, self.headers = hub, method, parts.path, headers
        self.query = parse_qs(parts.query, keep_blank_values=True)
        self.operation = hub.contract.operation(method, parts.path)
        self.body: Any = None
        self._unreadable = False
        try:
            self.body = json.loads(data) if data else None
        except ValueError:
            self._unreadable = True

    def run(self) -> tuple[Fault | None, Answer]:
        """Return the answer, and the fault that befalls it."""
        hub = self.hub
        with hub.lock:
            wrong = self._wrong()
            self._complain("request", wrong)
            callbacks = hub.faults.due_callbacks(self.method, self.path)
        # Not under the lock: a callback may itself be a client of this server.
        for it in callbacks:
            it.callback()
        with hub.lock:
            fault = hub.faults.next_fault(self.method, self.path)
            faked = fault is not None and (fault.status is not None or fault.close)
            answer = Answer(500)
            if fault is None or fault.applied or not faked:
                answer = self._answered(wrong)
            if fault is not None and faked:
                answer = self._faked(fault)
            closed = fault is not None and fault.close
            status = 0 if closed else answer.status
            hub.requests.append(Logged(self.method, self.path, self.query, self.body, status))
            headers = {"x-github-media-type": "github.v3; format=json", **hub.access.rate.headers(), **answer.headers}
        return fault, Answer(answer.status, answer.body, headers, answer.media)

    def _wrong(self) -> list[str]:
        if self.operation is None:
            return ["GitHub has no such operation"]
        if self._unreadable:
            return ["the body is not JSON"]
        agent = [] if self.headers.get("user-agent") else ["the header User-Agent is missing"]
        return agent + self.hub.contract.check_request(self.operation, self.query, self.body)

    def _complain(self, what: str, wrong: list[str]) -> None:
        self.hub.violations += [f"{what} {self.method} {self.path}: {it}" for it in wrong]

    def _faked(self, fault: Fault) -> Answer:
        media = "text/html" if isinstance(fault.body, str) else JSON
        return Answer(fault.status or 500, fault.body, fault.headers, media)

    def _answered(self, wrong: list[str]) -> Answer:
        operation = self.operation
        try:
            answer = self._handled(operation, wrong)
        except Refusal as refusal:
            answer = self._refused(operation, refusal)
        answer = self._unchanged(answer)
        # What does not fit is told already, and GitHub's answer to it is not described.
        if operation is not None and not wrong and answer.status != 501:
            content = answer.body.decode("latin-1") if isinstance(answer.body, bytes) else answer.body
            checked = self.hub.contract.check_answer(operation, answer.status, answer.media, content)
            self._complain(f"answer {answer.status} to", checked)
        return answer

    def _handled(self, operation: Operation | None, wrong: list[str]) -> Answer:
        hub = self.hub
        if (operation is None or operation.template != "/rate_limit") and not hub.access.rate.take():
            raise Refusal(403, "API rate limit exceeded for installation ID 4242.")
        login = hub.access.login(self.headers.get("authorization"), hub.state.token_login)
        if operation is None or not self._is_ours(operation):
            raise Refusal(404, "Not Found")
        if wrong:
            raise Refusal(422, f"Invalid request.\n\n{'; '.join(wrong)}")
        found = ROUTES.get((operation.method, operation.template))
        if found is None:
            raise Refusal(501, "This server does not play the operation")
        query = {name: values[0] for name, values in self.query.items()}
        request = Request(self.method, self.path, operation.path, query, self.headers, self.body, login)
        hub.access.check(hub, found, request)
        return found.handler(hub, request)

    def _is_ours(self, operation: Operation) -> bool:
        asked = f"{operation.path.get('owner', self.hub.owner)}/{operation.path.get('repo', self.hub.name)}"
        return asked.lower() == self.hub.full_name.lower()

    def _refused(self, operation: Operation | None, refusal: Refusal) -> Answer:
        if refusal.status == 501:
            self._complain("request", [refusal.message])
        limited = refusal.message.startswith("API rate limit")
        page = operation.documentation_url if operation else "https://docs.github.com/rest"
        facts: dict[str, Any] = {"message": refusal.message}
        if refusal.errors:
            facts["errors"] = list(refusal.errors)
        facts |= {"documentation_url": _RATE_LIMIT_PAGE if limited else page, "status": str(refusal.status)}
        return Answer(refusal.status, facts)

    def _unchanged(self, answer: Answer) -> Answer:
        """Return the answer with its ETag, or 304 when the client has it already."""
        if self.method != "GET" or answer.status != 200:
            return answer
        data = answer.body if isinstance(answer.body, bytes) else json.dumps(answer.body).encode()
        tag = f'W/"{hashlib.sha256(data).hexdigest()}"'
        if self.headers.get("if-none-match") == tag:
            return Answer(304, headers={"ETag": tag})
        return Answer(200, answer.body, {**answer.headers, "ETag": tag}, answer.media)
