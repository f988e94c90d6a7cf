import gzip
import hashlib
import random
import shutil
import signal
import ssl
import subprocess
import time
from collections.abc import Callable
from email.utils import formatdate
from pathlib import Path
from typing import Any

import pytest

from membench.errors import FetchError, StorageError
from membench.files.download import download
from membench.files.retrying import RetryPolicy, retry_after

CONTENT = random.Random(1).randbytes(400_000)
SHA256 = hashlib.sha256(CONTENT).hexdigest()
SIZE = len(CONTENT)
HALF = 3 * 65536
QUICK = RetryPolicy(attempts=3, first_wait=0.01, longest_wait=0.05, connect_timeout=2, read_timeout=0.2)
OTHER = CONTENT[::-1]

Fetch = Callable[..., None]


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "models" / "file"


@pytest.fixture
def fetch(site: Any, target: Path) -> Fetch:
    site.content = CONTENT

    def fetch(**changes: Any) -> None:
        download(site.url, target, **{"sha256": SHA256, "size": SIZE, "policy": QUICK, **changes})

    return fetch


def leave_part(target: Path, content: bytes) -> None:
    target.parent.mkdir()
    part_of(target).write_bytes(content)


def part_of(target: Path) -> Path:
    return target.with_name("file.part")


def is_alone(target: Path) -> bool:
    return list(target.parent.iterdir()) == [target]


def test_the_file_arrives_in_one_request_with_its_progress(site: Any, fetch: Fetch, target: Path) -> None:
    seen: list[tuple[int, int | None]] = []
    fetch(progress=lambda done, total: seen.append((done, total)))
    assert target.read_bytes() == CONTENT
    assert is_alone(target)
    assert len(site.requests) == 1
    assert site.requests[0]["Accept-Encoding"] == "identity"
    assert seen[0] == (0, SIZE)
    assert seen[-1] == (SIZE, SIZE)
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)


def test_a_part_of_an_earlier_call_is_resumed_by_range_alone(site: Any, fetch: Fetch, target: Path) -> None:
    leave_part(target, CONTENT[:1000])
    seen: list[int] = []
    fetch(progress=lambda done, _: seen.append(done))
    assert target.read_bytes() == CONTENT
    assert is_alone(target)
    assert site.ranges() == ["bytes=1000-"]
    assert "If-Range" not in site.requests[0]
    assert site.sent == SIZE - 1000
    assert seen[0] == 1000


def test_a_complete_part_needs_no_request(site: Any, fetch: Fetch, target: Path) -> None:
    leave_part(target, CONTENT)
    fetch()
    assert target.read_bytes() == CONTENT
    assert site.requests == []


def test_a_complete_part_of_unknown_size_is_verified_after_416(site: Any, fetch: Fetch, target: Path) -> None:
    leave_part(target, CONTENT)
    fetch(size=None)
    assert target.read_bytes() == CONTENT
    assert site.ranges() == [f"bytes={SIZE}-"]


@pytest.mark.parametrize(
    ("size", "part"),
    [(None, b"x" * SIZE), (None, b"x" * (SIZE + 5)), (SIZE, b"x" * SIZE), (SIZE, b"x" * (SIZE + 5)), (SIZE, b"x" * 9)],
    ids=["416", "416 and longer", "complete", "longer", "shorter"],
)
def test_a_part_with_other_bytes_is_fetched_anew(
    site: Any, fetch: Fetch, target: Path, size: int | None, part: bytes
) -> None:
    leave_part(target, part)
    fetch(size=size)
    assert target.read_bytes() == CONTENT
    assert site.ranges()[-1] is None
    assert len(site.requests) <= 2


def test_truncated_answers_are_resumed_and_cost_no_attempt(site: Any, fetch: Fetch, target: Path) -> None:
    site.plan.extend([*[site.truncated(30_000)] * 8, site.whole])
    fetch()
    assert target.read_bytes() == CONTENT
    assert site.ranges() == [None] + [f"bytes={30_000 * n}-" for n in range(1, 9)]
    assert {request.get("If-Range") for request in site.requests[1:]} == {'"v1"'}
    assert site.sent == SIZE


def test_an_answer_without_a_length_that_ends_early_is_resumed(site: Any, fetch: Fetch, target: Path) -> None:
    site.plan.extend([site.body(CONTENT[:HALF]), site.whole])
    fetch()
    assert target.read_bytes() == CONTENT
    assert site.ranges() == [None, f"bytes={HALF}-"]


def test_an_answer_of_unknown_length_is_whole_at_its_end(site: Any, fetch: Fetch, target: Path) -> None:
    site.plan.append(site.body(CONTENT))
    fetch(size=None)
    assert target.read_bytes() == CONTENT


def test_without_a_pinned_size_the_content_length_tells_truncation(site: Any, fetch: Fetch, target: Path) -> None:
    site.plan.extend([site.truncated(HALF), site.truncated(1000), site.whole])
    fetch(size=None)
    assert target.read_bytes() == CONTENT
    assert site.ranges() == [None, f"bytes={HALF}-", f"bytes={HALF + 1000}-"]


def test_a_stall_is_noticed_and_resumed(site: Any, fetch: Fetch, target: Path) -> None:
    site.plan.extend([site.stalled(HALF + 10), site.whole])
    begun = time.monotonic()
    fetch()
    assert time.monotonic() - begun < 2
    assert target.read_bytes() == CONTENT
    assert site.ranges() == [None, f"bytes={HALF}-"]


def test_a_server_that_always_stalls_is_given_up_and_the_part_stays(site: Any, fetch: Fetch, target: Path) -> None:
    site.plan.extend([site.stalled(HALF), site.stalled(0)])
    with pytest.raises(FetchError) as caught:
        fetch()
    assert site.url in caught.value.what
    assert "nothing came for 0.2 s" in caught.value.what
    assert f"{HALF} of {SIZE}" in caught.value.what
    assert "--from PATH" in str(caught.value.remedy)
    assert len(site.requests) == 1 + QUICK.attempts
    assert not target.exists()
    assert part_of(target).read_bytes() == CONTENT[:HALF]


def test_a_416_to_a_part_that_is_not_whole_starts_over(site: Any, fetch: Fetch, target: Path) -> None:
    site.plan.extend([site.truncated(HALF), site.status(416), site.whole])
    fetch()
    assert target.read_bytes() == CONTENT
    assert site.ranges() == [None, f"bytes={HALF}-", None]


def test_a_new_start_after_useless_bytes_has_all_its_attempts(site: Any, fetch: Fetch, target: Path) -> None:
    leave_part(target, b"x" * 1000)
    site.plan.extend([site.whole, *[site.truncated(30_000)] * 8, site.whole])
    fetch()
    assert target.read_bytes() == CONTENT


def test_a_server_that_ignores_ranges_starts_over(site: Any, fetch: Fetch, target: Path) -> None:
    leave_part(target, b"x" * 1000)
    site.plan.append(site.ignoring_ranges)
    fetch()
    assert target.read_bytes() == CONTENT
    assert len(site.requests) == 1


def test_wrong_bytes_that_all_came_in_this_call_are_a_verdict(site: Any, fetch: Fetch, target: Path) -> None:
    leave_part(target, CONTENT[:1000])
    site.content = OTHER
    site.plan.append(site.ignoring_ranges)
    with pytest.raises(FetchError, match="expected SHA-256"):
        fetch()
    assert len(site.requests) == 1
    assert list(target.parent.iterdir()) == []


def test_a_range_shorter_than_asked_for_is_continued(site: Any, fetch: Fetch, target: Path) -> None:
    leave_part(target, CONTENT[:1000])
    some = site.body(CONTENT[1000:2000], 206, Content_Range=f"bytes 1000-1999/{SIZE}", Content_Length="1000")
    site.plan.extend([some, site.whole])
    fetch(size=None)
    assert target.read_bytes() == CONTENT
    assert site.ranges() == ["bytes=1000-", "bytes=2000-"]


def test_bytes_that_come_again_and_again_do_not_count_as_progress(site: Any, fetch: Fetch, target: Path) -> None:
    site.plan.append(site.body(CONTENT[:HALF], Content_Length=str(SIZE)))
    with pytest.raises(FetchError, match="could not be fetched"):
        fetch()
    assert len(site.requests) == 1 + QUICK.attempts
    assert not target.exists()


def test_a_range_that_was_not_asked_for_is_not_written(site: Any, fetch: Fetch, target: Path) -> None:
    leave_part(target, CONTENT[:1000])
    site.plan.extend([site.body(CONTENT[2000:], 206, Content_Range=f"bytes 2000-{SIZE - 1}/{SIZE}"), site.whole])
    fetch()
    assert target.read_bytes() == CONTENT
    assert site.ranges() == ["bytes=1000-", None]


def test_a_file_that_changes_midway_is_fetched_from_its_start(site: Any, fetch: Fetch, target: Path) -> None:
    site.content, site.etag = OTHER, '"v0"'

    def change(handler: Any) -> None:
        site.truncated(HALF)(handler)
        site.content, site.etag = CONTENT, '"v1"'

    site.plan.extend([change, site.whole])
    fetch()
    assert target.read_bytes() == CONTENT
    assert site.requests[1]["If-Range"] == '"v0"'
    assert site.sent == HALF + SIZE


def test_a_weak_etag_is_not_sent_as_if_range(site: Any, fetch: Fetch, target: Path) -> None:
    site.etag = 'W/"v1"'
    site.plan.extend([site.truncated(HALF), site.whole])
    fetch()
    assert target.read_bytes() == CONTENT
    assert "If-Range" not in site.requests[1]


@pytest.mark.parametrize("code", [408, 429, 500, 503])
def test_a_busy_server_is_asked_again(site: Any, fetch: Fetch, target: Path, code: int) -> None:
    site.plan.extend([site.status(code), site.status(code), site.whole])
    fetch()
    assert target.read_bytes() == CONTENT


@pytest.mark.parametrize("form", ["seconds", "date"])
def test_retry_after_is_waited_for(site: Any, fetch: Fetch, form: str) -> None:
    # A date has whole seconds: two of them ahead are between one and two.
    value = "1" if form == "seconds" else formatdate(time.time() + 2, usegmt=True)
    site.plan.extend([site.status(429, Retry_After=value), site.whole])
    begun = time.monotonic()
    fetch(policy=RetryPolicy(attempts=3, first_wait=0.01, longest_wait=5))
    assert 0.9 <= time.monotonic() - begun < 3


def test_retry_after_is_bounded_by_the_longest_wait(site: Any, fetch: Fetch, target: Path) -> None:
    site.plan.extend([site.status(429, Retry_After="3600"), site.whole])
    begun = time.monotonic()
    fetch()
    assert time.monotonic() - begun < 2
    assert target.read_bytes() == CONTENT


@pytest.mark.parametrize("value", ["soon", "", "-3", "²", "Wed, 99 Foo 2015"])
def test_a_retry_after_that_says_nothing_is_none(value: str) -> None:
    assert retry_after(value) is None


def test_a_retry_after_in_the_past_is_no_wait() -> None:
    assert retry_after("Wed, 21 Oct 2015 07:28:00 GMT") == 0


def test_the_pause_doubles_with_jitter_up_to_its_bound() -> None:
    policy = RetryPolicy(first_wait=1, longest_wait=5)
    for fruitless, bound in ((0, 1), (1, 1), (2, 2), (3, 4), (4, 5), (30, 5)):
        pauses = {policy.pause(fruitless) for _ in range(50)}
        assert bound / 2 <= min(pauses) < max(pauses) <= bound


def test_a_server_that_is_never_ready_is_given_up(site: Any, fetch: Fetch, target: Path) -> None:
    site.plan.append(site.status(503))
    with pytest.raises(FetchError, match="the server answered 503") as caught:
        fetch()
    assert site.url in caught.value.what
    assert len(site.requests) == QUICK.attempts
    assert list(target.parent.iterdir()) == []


@pytest.mark.parametrize("code", [401, 403, 404, 410, 418])
def test_a_refusal_is_not_asked_again_and_keeps_the_part(site: Any, fetch: Fetch, target: Path, code: int) -> None:
    leave_part(target, CONTENT[:10])
    site.plan.append(site.status(code))
    with pytest.raises(FetchError, match=f"answered {code}") as caught:
        fetch()
    assert site.url in caught.value.what
    assert "--from PATH" in str(caught.value.remedy)
    assert len(site.requests) == 1
    assert part_of(target).read_bytes() == CONTENT[:10]


def test_other_bytes_of_the_right_length_leave_nothing(site: Any, fetch: Fetch, target: Path) -> None:
    site.content = OTHER
    with pytest.raises(FetchError) as caught:
        fetch()
    for fact in (site.url, SHA256, hashlib.sha256(OTHER).hexdigest()):
        assert fact in caught.value.what
    assert len(site.requests) == 1
    assert list(target.parent.iterdir()) == []


def test_a_failed_download_leaves_an_older_target_alone(site: Any, fetch: Fetch, target: Path) -> None:
    target.parent.mkdir()
    target.write_bytes(b"old")
    site.content = OTHER
    with pytest.raises(FetchError):
        fetch()
    assert target.read_bytes() == b"old"
    assert is_alone(target)


@pytest.mark.parametrize("part", [b"", CONTENT[:1000]], ids=["from the start", "resumed"])
def test_an_announced_surplus_is_refused_before_it_is_read(site: Any, fetch: Fetch, target: Path, part: bytes) -> None:
    leave_part(target, part)
    seen: list[int] = []
    with pytest.raises(FetchError, match="expected 399999 bytes, found more"):
        fetch(size=SIZE - 1, progress=lambda done, _: seen.append(done))
    assert seen == []
    assert list(target.parent.iterdir()) == []


def test_an_endless_answer_is_cut_off(site: Any, fetch: Fetch, target: Path) -> None:
    def endless(handler: Any) -> None:
        handler.send_response(200)
        handler.end_headers()
        while not site.closing.is_set():
            site.sent += handler.wfile.write(CONTENT)

    site.plan.append(endless)
    seen: list[int] = []
    with pytest.raises(FetchError, match=f"expected {SIZE} bytes, found more"):
        fetch(progress=lambda done, _: seen.append(done))
    assert max(seen) <= SIZE
    assert len(site.requests) == 1
    assert list(target.parent.iterdir()) == []


def test_a_file_called_gzip_by_its_server_is_kept_as_it_is(site: Any, fetch: Fetch, target: Path) -> None:
    packed = gzip.compress(CONTENT)
    site.plan.append(site.body(packed, Content_Encoding="x-gzip", Content_Length=str(len(packed))))
    fetch(sha256=hashlib.sha256(packed).hexdigest(), size=len(packed))
    assert target.read_bytes() == packed


def test_a_redirect_is_followed_with_the_range(site: Any, fetch: Fetch, target: Path) -> None:
    leave_part(target, CONTENT[:1000])
    site.plan.extend([site.status(302, Location="/elsewhere"), site.whole])
    fetch()
    assert target.read_bytes() == CONTENT
    assert [request["path"] for request in site.requests] == ["/file", "/elsewhere"]
    assert site.ranges() == ["bytes=1000-"] * 2


def test_a_circle_of_redirects_is_refused(site: Any, fetch: Fetch) -> None:
    site.plan.append(site.status(302, Location="/file"))
    with pytest.raises(FetchError, match="redirects"):
        fetch()


def test_https_is_not_left_for_http(
    site: Any, fetch: Fetch, target: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, certificate: Path
) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    plain = site.url
    site.server.socket = context.wrap_socket(site.server.socket, server_side=True)
    site.url = site.url.replace("http:", "https:")
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(certificate))
    site.plan.extend([site.status(302, Location=plain), site.whole])
    with pytest.raises(FetchError, match="from https only https"):
        fetch()
    assert len(site.requests) == 1
    fetch()
    assert target.read_bytes() == CONTENT


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """Return a file with a key and a certificate of 127.0.0.1 that only this test knows."""
    if shutil.which("openssl") is None:
        pytest.skip("the openssl command makes the certificate: apt-get install openssl")
    request = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost"
    files = ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(tmp_path / "key"), "-out", str(tmp_path / "cert")]
    subprocess.run([*request.split(), *files], check=True, capture_output=True)
    both = tmp_path / "both.pem"
    both.write_bytes((tmp_path / "key").read_bytes() + (tmp_path / "cert").read_bytes())
    return both


def test_nobody_at_the_address_is_told_with_the_cause(site: Any, target: Path) -> None:
    site.close()
    with pytest.raises(FetchError, match="Connection refused") as caught:
        download(site.url, target, sha256=SHA256, size=SIZE, policy=QUICK)
    assert site.url in caught.value.what
    assert "Max retries" not in caught.value.what
    assert "--from PATH" in str(caught.value.remedy)


@pytest.mark.parametrize("url", ["ftp://127.0.0.1/f", "nonsense", "http://"])
def test_an_address_of_no_use_is_refused_at_once(target: Path, url: str) -> None:
    with pytest.raises(FetchError, match=f"{url} could not be fetched"):
        download(url, target, sha256=SHA256, size=SIZE)


def test_a_folder_that_cannot_be_written_is_told_before_any_request(site: Any, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(StorageError, match="cannot be written"):
        download(site.url, tmp_path / "file" / "target", sha256=SHA256, size=SIZE)
    assert site.requests == []


CHILD = """
import resource, sys
from pathlib import Path
from membench.errors import StorageError
from membench.files.download import download
url, target, sha256, size, limit = sys.argv[1:]
resource.setrlimit(resource.RLIMIT_FSIZE, (int(limit), int(limit)))
try:
    download(url, Path(target), sha256=sha256, size=int(size))
except StorageError as error:
    print(error)
"""


def test_a_write_that_the_system_stops_is_a_storage_error(
    site: Any, target: Path, start: Callable[..., subprocess.Popen[str]]
) -> None:
    site.content = CONTENT
    out, err = start(CHILD, site.url, target, SHA256, SIZE, 100_000).communicate(timeout=10)
    assert "file.part cannot be written: File too large" in out, err
    assert len(site.requests) == 1
    assert not target.exists()


def test_an_interrupt_leaves_a_part_that_the_next_call_resumes(
    site: Any, fetch: Fetch, target: Path, start: Callable[..., subprocess.Popen[str]]
) -> None:
    site.plan.extend([site.stalled(HALF), site.whole])
    process = start(CHILD, site.url, target, SHA256, SIZE, 10_000_000)
    deadline = time.monotonic() + 10
    while not part_of(target).exists() or part_of(target).stat().st_size < HALF:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=10)
    assert "KeyboardInterrupt" in err
    assert not target.exists()
    fetch()
    assert target.read_bytes() == CONTENT
    assert is_alone(target)
    assert site.ranges() == [None, f"bytes={HALF}-"]
