"""A memory that is an HTTP service of the caller's own."""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

import requests
import urllib3
from pydantic_core import from_json
from requests.adapters import HTTPAdapter
from tenacity import RetryCallState, Retrying, retry_if_exception_type, stop_after_attempt

from membench.errors import MemoryCallError
from membench.files.retrying import RetryPolicy, TransientError, retry_after
from membench.memories.bridges.answers import Call, Subject
from membench.memories.bridges.deadline import Deadline, OverdueError
from membench.memories.bridges.messages import VERSION
from membench.memories.bridges.remote import RemoteMemory, encoded

LARGEST_ANSWER = 16 * 1024 * 1024
POLICY = RetryPolicy(attempts=6, first_wait=0.2, longest_wait=30.0)
_CONNECTIONS = 64
_CHUNK = 64 * 1024
_HEADERS = {
    "Content-Type": "application/json",
    "Accept": "application/json",
    # An answer is bounded by what it weighs on the way.
    "Accept-Encoding": "identity",
    "Membench-Contract": VERSION,
}
_REPEATABLE = frozenset({"describe", "search", "close"})
_MEND = "Look into the log of the service; `membench schema http` prints what it has to answer."


@contextmanager
def service_memory(
    address: str, options: Mapping[str, str], timeout: float, policy: RetryPolicy = POLICY
) -> Iterator[RemoteMemory]:
    """The memory behind ``address``. ``timeout`` in seconds bounds an attempt, ``policy`` their number and waits."""
    deadline = Deadline(timeout)
    with requests.Session() as session:
        try:
            yield RemoteMemory(_Service(_way(address, session), shown(address), deadline, policy), options)
        finally:
            deadline.close()


def shown(address: str) -> str:
    """``address`` without a password in it."""
    parts = urlsplit(address)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()


@dataclass(frozen=True, slots=True)
class _Way:
    """Kept connections to a service, or to the proxy before it; ``path`` is what the calls' names are put to."""

    pool: urllib3.HTTPConnectionPool
    path: str
    headers: Mapping[str, str]


def _way(address: str, session: requests.Session) -> _Way:
    """As requests finds it: proxies, certificates and a password in the address. Its calls as such cost too much."""
    request = session.prepare_request(requests.Request("POST", f"{address.rstrip('/')}/v1/", headers=_HEADERS))
    found = session.merge_environment_settings(request.url, {}, None, None, None)
    adapter = HTTPAdapter(pool_maxsize=_CONNECTIONS)
    session.mount(address, adapter)
    pool = adapter.get_connection_with_tls_context(request, found["verify"], proxies=found["proxies"])
    assert isinstance(pool, urllib3.HTTPConnectionPool)  # noqa: S101
    path = adapter.request_url(request, found["proxies"])
    return _Way(pool, path, {name: value for name, value in request.headers.items() if name != "Content-Length"})


class _Service:
    """A `Line` to an HTTP service."""

    def __init__(self, way: _Way, address: str, deadline: Deadline, policy: RetryPolicy) -> None:
        self.subject = Subject(address)
        self._way = way
        self._deadline = deadline
        self._policy = policy

    def ask(self, call: Call, body: Mapping[str, Any]) -> Any:
        """The body of the answer. Raises MemoryCallError."""
        content = encoded(body, self.subject, call)
        retrying = Retrying(
            stop=stop_after_attempt(self._policy.attempts),
            wait=self._pause,
            retry=retry_if_exception_type(TransientError),
            reraise=True,
        )
        begun = time.monotonic()
        try:
            return retrying(self._attempt, call, content)
        except TransientError as last:
            spent = f"{retrying.statistics['attempt_number']} attempts in {time.monotonic() - begun:.1f} s"
            raise self.subject.failed(call, f"{last} ({spent})", _MEND) from last

    def _pause(self, state: RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome else None
        if isinstance(error, TransientError) and error.retry_after is not None:
            return min(error.retry_after, self._policy.longest_wait)
        return self._policy.pause(state.attempt_number)

    def _attempt(self, call: Call, content: bytes) -> Any:
        try:
            return self._deadline.call(lambda: self._post(call, content))
        except urllib3.exceptions.NewConnectionError as error:
            raise TransientError(f"no connection: {_root(error)}") from error
        except (OverdueError, urllib3.exceptions.TimeoutError) as error:
            raise self._failed(call, f"no answer within {self._deadline.seconds:g} s") from error
        except (urllib3.exceptions.HTTPError, OSError) as error:
            told = f"no answer: {type(_root(error)).__name__}: {_root(error)}"
            if call in _REPEATABLE:
                raise TransientError(told) from error
            raise self._failed(call, f"{told}; it is not asked twice, as it may have done it") from error

    def _post(self, call: Call, content: bytes) -> Any:
        response = self._way.pool.urlopen(
            "POST",
            f"{self._way.path}{call}",
            content,
            self._way.headers,
            retries=False,
            redirect=False,
            assert_same_host=False,
            timeout=self._deadline.seconds,
            preload_content=False,
        )
        body = self._read(call, response)
        if response.status != HTTPStatus.OK:
            raise self._refused(call, response, body)
        kind = response.headers.get("Content-Type", "of no type")
        if kind.partition(";")[0].strip().lower() != "application/json":
            raise self._failed(call, f"the answer is {kind}, expected application/json: {body[:80]!r}")
        try:
            return from_json(body)
        except ValueError as error:
            raise self._failed(call, f"the answer is no JSON ({error}): {body[:80]!r}") from error

    def _read(self, call: Call, response: urllib3.BaseHTTPResponse) -> bytes:
        body = bytearray()
        while chunk := response.read1(_CHUNK, decode_content=False):
            body += chunk
            if len(body) > LARGEST_ANSWER:
                # What is left of it must not be taken for the next answer.
                response.close()
                raise self._failed(call, f"the answer is larger than {LARGEST_ANSWER:,} bytes")
        response.release_conn()
        return bytes(body)

    def _refused(self, call: Call, response: urllib3.BaseHTTPResponse, body: bytes) -> Exception:
        told = f"it answered {response.status} {response.reason or ''}".rstrip()
        if place := response.get_redirect_location():
            return self._failed(call, f"{told}, to {place:.200}", "Redirects are not followed: give the final address.")
        told += _error_text(body)
        waits = retry_after(response.headers.get("Retry-After"))
        # 429 and 503 say that nothing was done; behind 502 and 504 it may have been.
        if response.status in (429, 503) or (call in _REPEATABLE and response.status in (502, 504)):
            return TransientError(told, waits)
        return self._failed(call, told)

    def _failed(self, call: Call, fault: str, remedy: str = _MEND) -> MemoryCallError:
        return self.subject.failed(call, fault, remedy)


def _root(error: BaseException) -> BaseException:
    """The libraries wrap what happened, in causes and in arguments."""
    while True:
        inside = (*error.args, getattr(error, "reason", None), error.__cause__, error.__context__)
        inner = next((one for one in inside if isinstance(one, BaseException)), None)
        if inner is None:
            return error
        error = inner


def _error_text(body: bytes) -> str:
    try:
        told = from_json(body)
        text = told["error"] if isinstance(told["error"], str) else repr(told)
    except (ValueError, KeyError, TypeError):
        text = body[:200].decode(errors="replace")
    return f": {text:.2000}" if text else ""
