"""Fetch a pinned file over HTTP: resumed, retried, and kept only when it holds the pinned bytes."""

import re
from dataclasses import dataclass, field
from pathlib import Path

import requests
import urllib3
from tenacity import RetryCallState, Retrying, retry_if_exception_type

from membench.errors import FetchError
from membench.files.atomic import ensure_writable, replace_durably
from membench.files.digest import sha256_of
from membench.files.failures import storage_errors
from membench.files.pinned import Progress, require_digest, require_size, silent
from membench.files.retrying import DEFAULT_POLICY, RetryPolicy, TransientError, retry_after

# What is lost when a connection stalls: small beside any file, large beside the cost of a call.
_CHUNK = 64 * 1024
_ELSEWHERE = "fetch it elsewhere and import it with --from PATH"


def download(
    url: str,
    target: Path,
    *,
    sha256: str,
    size: int | None,
    progress: Progress = silent,
    policy: RetryPolicy = DEFAULT_POLICY,
) -> None:
    """Put the bytes of ``url`` at ``target`` when they are the pinned ones.

    They are gathered in ``target`` + ".part", which an interrupted call leaves and the next one resumes; ``target`` is
    only ever touched by the move of a verified file. Raises FetchError when the pinned bytes cannot be had,
    StorageError when they cannot be written.
    """
    ensure_writable(target.parent)
    part = target.with_name(f"{target.name}.part")
    with _session(url) as session:
        transfer = _Transfer(session, url, part, sha256, size, progress, policy)
        transfer.run()
        if transfer.inherited and sha256_of(part) != sha256:
            # What an earlier call left can be of another version of the file: that is no verdict on this one.
            transfer.discard()
            transfer.run()
    try:
        require_digest(url, sha256_of(part), sha256, f"The file behind it has changed: {_ELSEWHERE}.")
    except FetchError:
        transfer.discard()
        raise
    with storage_errors("written", target):
        replace_durably(part, target)


def _session(url: str) -> requests.Session:
    session = requests.Session()
    if url.lower().startswith("https:"):
        # Without an adapter for it, a redirect to plain http fails before anything is sent.
        session.adapters.pop("http://")
    return session


@dataclass
class _Transfer:
    """The bytes of one URL on their way into the part file. ``inherited``: some of them are from an earlier call."""

    session: requests.Session
    url: str
    part: Path
    sha256: str
    size: int | None
    progress: Progress
    policy: RetryPolicy
    inherited: bool = field(init=False)
    _etag: str | None = field(init=False, default=None)
    _furthest: int = field(init=False, default=0)
    _fruitless: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        self.inherited = self._have() > 0

    def run(self) -> None:
        """Bring the part file to its full length."""
        self._furthest = self._have()
        self._fruitless = 0
        retrying = Retrying(
            stop=lambda _: self._fruitless >= self.policy.attempts,
            wait=self._pause,
            retry=retry_if_exception_type(TransientError),
            reraise=True,
        )
        try:
            retrying(self._attempt)
        except TransientError as last:
            raise FetchError(
                f"{self.url} could not be fetched: {last} (attempts in a row without a new byte: {self._fruitless}; "
                f"bytes so far: {self._have()} of {'an unknown number' if self.size is None else self.size})",
                f"Try again later, which resumes where it stopped, or {_ELSEWHERE}.",
            ) from last

    def discard(self) -> None:
        """Remove the part file."""
        with storage_errors("written", self.part):
            self.part.unlink(missing_ok=True)
        self.inherited = False

    def _have(self) -> int:
        with storage_errors("read", self.part):
            return self.part.stat().st_size if self.part.exists() else 0

    def _pause(self, state: RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome else None
        if isinstance(error, TransientError) and error.retry_after is not None:
            return min(error.retry_after, self.policy.longest_wait)
        return self.policy.pause(self._fruitless)

    def _attempt(self) -> None:
        before = self._furthest
        try:
            self._request()
        except TransientError:
            # Bytes that come a second time, after a start from the beginning, are no progress: else this might not end.
            self._fruitless = 0 if self._furthest > before else self._fruitless + 1
            raise

    def _request(self) -> None:
        have = self._have()
        if have and have == self.size:
            return
        timeout = (self.policy.connect_timeout, self.policy.read_timeout)
        try:
            with self.session.get(self.url, headers=self._headers(have), stream=True, timeout=timeout) as response:
                if not self._is_complete(response, have):
                    self._receive(response, have if response.status_code == requests.codes.partial else 0)
        except (requests.ConnectionError, requests.Timeout, urllib3.exceptions.HTTPError) as error:
            raise TransientError(self._reason(error)) from error
        except requests.RequestException as error:
            raise FetchError(
                f"{self.url} could not be fetched: {error} (https and http are followed, from https only https)",
                f"Check the address, or {_ELSEWHERE}.",
            ) from error

    def _headers(self, have: int) -> dict[str, str]:
        headers = {"Accept-Encoding": "identity"}
        if have:
            headers["Range"] = f"bytes={have}-"
            # RFC 9110, 13.1.5: If-Range takes strong validators only.
            if self._etag is not None and not self._etag.startswith("W/"):
                headers["If-Range"] = self._etag
        return headers

    def _is_complete(self, response: requests.Response, have: int) -> bool:
        """Return whether nothing is missing; False when the body of ``response`` is to be written."""
        status = response.status_code
        told = f"{status} {response.reason}"
        if status == requests.codes.ok:
            return False
        if status == requests.codes.partial:
            if _first_byte(response) == have:
                return False
            self.discard()
            told = response.headers.get("Content-Range", "none")
            raise TransientError(f"the server was asked to continue at byte {have}; its Content-Range: {told}")
        if status == requests.codes.requested_range_not_satisfiable and have:
            if sha256_of(self.part) == self.sha256:
                return True
            self.discard()
            raise TransientError(f"the server could not continue at byte {have}: {told}")
        if status in (requests.codes.request_timeout, requests.codes.too_many_requests) or status >= 500:
            raise TransientError(f"the server answered {told}", retry_after(response.headers.get("Retry-After")))
        raise FetchError(
            f"{self.url} could not be fetched: the server answered {told}", f"Check the address, or {_ELSEWHERE}."
        )

    def _receive(self, response: requests.Response, start: int) -> None:
        self._etag = response.headers.get("ETag")
        total = _total(response)
        if total is not None:
            self._refuse_surplus(total)
        expected = total if self.size is None else self.size
        self.inherited = self.inherited and start > 0
        have = start
        self.progress(have, expected)
        with storage_errors("written", self.part), self.part.open("ab" if start else "wb") as file:
            # Undecoded: the pinned bytes are those of the file, whatever the server says that they encode.
            for chunk in response.raw.stream(_CHUNK, decode_content=False):
                have += len(chunk)
                if self.size is not None and have > self.size:
                    break
                file.write(chunk)
                self._furthest = max(self._furthest, have)
                self.progress(have, expected)
        self._refuse_surplus(have)
        if expected is not None and have < expected:
            raise TransientError(f"the answer ended at byte {have} of {expected}")

    def _refuse_surplus(self, count: int) -> None:
        if self.size is not None and count > self.size:
            self.discard()
            require_size(self.url, count, self.size, f"The file behind it has changed: {_ELSEWHERE}.")

    def _reason(self, error: Exception) -> str:
        if isinstance(error, requests.ConnectTimeout):
            return f"no connection within {self.policy.connect_timeout:g} s"
        if isinstance(error, requests.ReadTimeout | urllib3.exceptions.ReadTimeoutError):
            return f"nothing came for {self.policy.read_timeout:g} s"
        # requests and urllib3 wrap the cause in the addresses of the pool, which can carry a signature.
        cause: BaseException = error
        if error.args and isinstance(error.args[0], BaseException):
            cause = error.args[0]
        while cause.__cause__ is not None:
            cause = cause.__cause__
        return f"{type(cause).__name__}: {cause}"


def _content_range(response: requests.Response) -> re.Match[str] | None:
    return re.match(r"bytes (\d+)-\d+/(\d+|\*)", response.headers.get("Content-Range", ""))


def _first_byte(response: requests.Response) -> int | None:
    found = _content_range(response)
    return int(found[1]) if found else None


def _total(response: requests.Response) -> int | None:
    """Return the length of the whole file, None where ``response`` does not tell."""
    if response.status_code == requests.codes.partial:
        found = _content_range(response)
        told = found[2] if found else ""
    else:
        told = response.headers.get("Content-Length", "")
    return int(told) if told.isdecimal() else None
