"""HTTP services that misbehave, on a real server."""

import shutil
import socket
import ssl
import subprocess
import threading
import time

import pytest

from membench.errors import MemoryCallError
from membench.files.retrying import RetryPolicy
from membench.memories.bridges.messages import VERSION
from membench.memories.bridges.service import service_memory
from membench.memories.protocol import Hit, Receipt, Unit
from membench.memories.spec import open_memory

QUICK = RetryPolicy(attempts=3, first_wait=0.01, longest_wait=0.05)


def opened(address, timeout=10.0, policy=QUICK, options=None):
    return service_memory(address, options or {}, timeout, policy)


def fault_of(service, call, timeout=10.0):
    with pytest.raises(MemoryCallError) as caught, opened(service.address, timeout) as memory:
        store = memory.open("p1")
        store.write([Unit("u0", "s1", "text", None)])
        store.search("which?", 3, None)
        store.close()
    assert f"The memory {service.address}, {call}: " in str(caught.value)
    assert caught.value.remedy
    return str(caught.value)


def test_the_five_calls_of_a_good_one(service, units):
    service.on("write", service.answer({"receipts": ["stored", "duplicate", {"status": "refused", "reason": "blank"}]}))
    with open_memory(service.address, {"k": "3"}, None) as memory:
        told = memory.describe()
        store = memory.open("p1")
        receipts = store.write(units)
        hits = store.search("which?", 2, units[1].time)
        store.close()
    assert (told.name, told.own, told.ephemeral, told.concurrency) == ("own", True, True, 1)
    assert receipts == [Receipt("stored"), Receipt("duplicate"), Receipt("refused", "blank")]
    assert hits == [Hit(0.5, "u0")]
    assert service.asked == [f"/v1/{call}" for call in ("describe", "open", "write", "search", "close")]
    assert service.bodies[0] == {"options": {"k": "3"}}
    assert service.bodies[2]["units"][:2] == [
        {"id": "u0", "session": "s1", "text": "text 0", "time": None},
        {"id": "u1", "session": "s1", "text": "text 1", "time": "2024-03-05T18:30:00"},
    ]
    assert service.bodies[3] == {"pool": "p1", "query": "which?", "limit": 2, "as_of": "2024-03-05T18:30:00"}
    assert {headers["Membench-Contract"] for headers in service.headers} == {VERSION}
    assert {headers["Content-Type"] for headers in service.headers} == {"application/json"}
    assert service.connections == 1


def test_a_prefix_and_a_password_in_the_address(service):
    address = service.address.replace("http://", "http://me:secret@") + "/memory/"
    service.on("search", service.answer({"error": "no"}, 500))
    with pytest.raises(MemoryCallError) as caught, opened(address) as memory:
        memory.open("p1").search("which?", 3, None)
    assert service.asked[0] == "/memory/v1/describe"
    assert service.headers[0]["Authorization"] == "Basic bWU6c2VjcmV0"
    assert f"The memory {service.address}/memory/, search: " in str(caught.value)
    assert "secret" not in str(caught.value)


def test_the_proxy_of_the_environment_is_used(service, monkeypatch):
    monkeypatch.setenv("http_proxy", service.address)
    with opened("http://memory.example/prefix") as memory:
        assert memory.describe().name == "own"
    assert service.asked == ["http://memory.example/prefix/v1/describe"]


def test_a_chunked_answer_is_read(service):
    service.on("search", service.chunked({"hits": [{"text": "as written", "score": 1}]}, 5))
    with opened(service.address) as memory:
        store = memory.open("p1")
        assert [store.search("which?", 3, None) for _ in range(2)] == [[Hit(1.0, text="as written")]] * 2
    assert service.connections == 1


REFUSED = {
    "a redirect": ({}, 302, "application/json", {"Location": "http://other.example/"}, "to http://other.example/"),
    "another": (
        {},
        308,
        "application/json",
        {"Location": "/v2/search"},
        "answered 308 Permanent Redirect, to /v2/search",
    ),
    "an error": ({"error": "no index"}, 500, "application/json", {}, "answered 500 Internal Server Error: no index"),
    "HTML": (b"<html>Bad</html>", 400, "text/html", {}, "answered 400 Bad Request: <html>Bad</html>"),
    "not found": (b"", 404, "text/plain", {}, "answered 404 Not Found"),
    "created": ({"hits": []}, 201, "application/json", {}, "answered 201 Created"),
    "a page": (b"<html>Hello</html>", 200, "text/html; charset=utf-8", {}, "the answer is text/html; charset=utf-8"),
    "another type": ({"hits": []}, 200, "text/plain", {}, "the answer is text/plain, expected application/json"),
    "no JSON": (b"<html>", 200, "application/json", {}, "the answer is no JSON (expected value at line 1 column 1)"),
    "no text": (b'{"hits": "\xff"}', 200, "application/json", {}, "the answer is no JSON (invalid unicode"),
    "nothing": (b"", 200, "application/json", {}, "the answer is no JSON"),
    "NaN": (b'{"hits": [{"unit": "u", "score": NaN}]}', 200, "application/json", {}, "should be a finite number"),
    "a field": ({"hits": [], "took": 3}, 200, "application/json", {}, "took is no field of the contract"),
    "a list": ([], 200, "application/json", {}, "the answer should be an object"),
}


@pytest.mark.parametrize(("told", "status", "kind", "headers", "fault"), REFUSED.values(), ids=REFUSED)
def test_what_is_no_answer_is_told_and_not_asked_again(service, told, status, kind, headers, fault):
    service.on("search", service.answer(told, status, kind, **headers))
    assert fault in fault_of(service, "search")
    assert service.calls().count("search") == 1


@pytest.mark.parametrize("count", [0, 2])
def test_receipts_have_to_be_one_a_unit(service, count):
    service.on("write", service.answer({"receipts": ["stored"] * count}))
    assert f"expected 1 receipts, one a unit, found {count}" in fault_of(service, "write")


@pytest.mark.parametrize("status", [429, 503])
@pytest.mark.parametrize("call", ["describe", "open", "write", "search", "close"])
def test_what_was_not_done_is_asked_again(service, call, status):
    service.on(call, *[service.answer({"error": "busy"}, status)] * 2, service.good(call))
    with opened(service.address) as memory:
        store = memory.open("p1")
        store.write([Unit("u0", "s1", "text", None)])
        store.search("which?", 3, None)
        store.close()
    assert service.calls().count(call) == 3


@pytest.mark.parametrize("call", ["describe", "open", "write", "search", "close"])
def test_busy_for_ever_ends(service, call):
    service.on(call, service.answer({"error": "busy"}, 429))
    fault = fault_of(service, call)
    assert "answered 429 Too Many Requests: busy (3 attempts in " in fault
    assert service.calls().count(call) == 3


@pytest.mark.parametrize("status", [502, 504])
@pytest.mark.parametrize(
    ("call", "attempts"), [("describe", 3), ("open", 1), ("write", 1), ("search", 3), ("close", 3)]
)
def test_what_may_have_been_done_is_asked_again_where_that_changes_nothing(service, call, attempts, status):
    service.on(call, service.answer(b"<html>gateway</html>", status, "text/html"))
    assert f"answered {status} " in fault_of(service, call)
    assert service.calls().count(call) == attempts


@pytest.mark.parametrize(("call", "attempts"), [("open", 1), ("write", 1), ("search", 3), ("close", 3)])
def test_a_connection_that_is_closed_is_asked_again_where_that_changes_nothing(service, call, attempts):
    service.on(call, service.hang_up)
    fault = fault_of(service, call)
    assert "no answer: " in fault
    assert ("not asked twice" in fault) == (attempts == 1)
    assert service.calls().count(call) == attempts


def test_the_wait_that_is_asked_for_is_kept_and_bounded(service):
    policy = RetryPolicy(attempts=3, first_wait=0.0, longest_wait=1.5)
    service.on(
        "search", *[service.answer({}, 429, Retry_After=wait) for wait in ("1", "3600")], service.answer({"hits": []})
    )
    begun = time.monotonic()
    with opened(service.address, policy=policy) as memory:
        assert memory.open("p1").search("which?", 3, None) == []
    assert 2.4 < time.monotonic() - begun < 5


def test_an_answer_that_is_too_large_is_refused_while_it_comes(service):
    service.on("search", service.flood(50_000_000))
    begun = time.monotonic()
    assert "the answer is larger than 16,777,216 bytes" in fault_of(service, "search", 30.0)
    assert service.calls().count("search") == 1
    assert time.monotonic() - begun < 10


HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 400\r\n\r\n"


@pytest.mark.parametrize("content", [HEAD + b" " * 400, HEAD.replace(b"OK", b"O" * 400)], ids=["body", "head"])
@pytest.mark.parametrize("main", [True, False], ids=["main thread", "another"])
def test_an_answer_that_drips_is_overdue(service, content, main):
    """Each byte comes in time, the answer does not."""
    service.on("search", service.drip(content))
    faults = []
    begun = time.monotonic()
    with opened(service.address, 0.5) as memory:
        store = memory.open("p1")

        def search():
            with pytest.raises(MemoryCallError) as caught:
                store.search("which?", 3, None)
            faults.append(str(caught.value))

        if main:
            search()
        else:
            thread = threading.Thread(target=search)
            thread.start()
            thread.join(10)
    assert "search: no answer within 0.5 s" in faults[0]
    assert time.monotonic() - begun < 3
    assert service.calls().count("search") == 1


def test_silence_is_overdue_and_not_asked_again(service):
    service.on("search", service.silence)
    assert "no answer within 0.5 s" in fault_of(service, "search", 0.5)
    assert service.calls().count("search") == 1


@pytest.mark.parametrize("call", ["describe", "open"])
def test_a_connection_that_is_refused_is_tried_again_and_told(call):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{free.getsockname()[1]}"
    with pytest.raises(MemoryCallError) as caught, opened(address) as memory:
        memory.describe() if call == "describe" else memory.open("p1")
    assert f"The memory {address}, describe: no connection: [Errno 111] Connection refused (3 attempts" in str(
        caught.value
    )


def test_a_host_that_is_none_is_told():
    with pytest.raises(MemoryCallError, match="describe: no connection: "), opened("http://memory.invalid") as memory:
        memory.describe()


def test_what_is_no_http_is_told():
    with socket.create_server(("127.0.0.1", 0)) as server:

        def greet():
            for _ in range(3):
                connection, _ = server.accept()
                with connection:
                    connection.recv(4096)
                    connection.sendall(b"220 mail.example ESMTP\r\n")

        thread = threading.Thread(target=greet)
        thread.start()
        with pytest.raises(MemoryCallError, match="describe: no answer: "):  # noqa: SIM117
            with opened(f"http://127.0.0.1:{server.getsockname()[1]}") as memory:
                memory.describe()
        thread.join(5)


def test_a_short_answer_is_no_answer(service):
    service.on("search", service.cut_off(HEAD + b'{"hits": []}'))
    assert "no answer: IncompleteRead" in fault_of(service, "search")


def test_searches_run_together_on_connections_of_their_own(service):
    barrier = threading.Barrier(8)

    def together(handler):
        barrier.wait(10)
        service.answer({"hits": []})(handler)

    service.on("search", together)
    found = []
    with opened(service.address) as memory:
        store = memory.open("p1")
        threads = [
            threading.Thread(target=lambda: found.extend(store.search(f"q{n}", 3, None) for n in range(5)))
            for _ in range(8)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(20)
    assert found == [[]] * 40
    assert service.connections <= 9


def test_no_cookie_is_kept(service):
    service.on("open", service.answer({}, Set_Cookie="a=b"))
    with opened(service.address) as memory:
        memory.open("p1").search("which?", 3, None)
    assert not any("Cookie" in headers for headers in service.headers)


def test_a_certificate_is_checked_by_the_environments_authorities(service, tmp_path, monkeypatch):
    certificate, key = tmp_path / "certificate", tmp_path / "key"
    if shutil.which("openssl") is None:
        pytest.skip("the openssl command makes the certificate: apt-get install openssl")
    request = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost"
    files = ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate]
    subprocess.run([*request.split(), *files], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    service.server.socket = context.wrap_socket(service.server.socket, server_side=True)
    address = service.address.replace("http:", "https:")
    with (
        pytest.raises(MemoryCallError, match=r"self-signed certificate|CERTIFICATE_VERIFY_FAILED"),
        opened(address) as memory,
    ):
        memory.describe()
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(certificate))
    with opened(address) as memory:
        assert memory.describe().name == "own"
