from pathlib import Path

import pytest

from membench.files.paths import cache_root


def test_the_variable_names_the_cache_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("MEMBENCH_CACHE", str(tmp_path / "c"))
    assert cache_root() == tmp_path / "c"


def test_a_home_sign_and_a_relative_path_become_absolute(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("MEMBENCH_CACHE", "~/c")
    assert cache_root() == tmp_path / "c"
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MEMBENCH_CACHE", "d")
    assert cache_root() == tmp_path / "d"


def test_an_empty_variable_means_the_users_cache_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("MEMBENCH_CACHE", "")
    set_but_empty = cache_root()
    monkeypatch.delenv("MEMBENCH_CACHE")
    assert set_but_empty == cache_root()
    assert set_but_empty.name == "membench"
    assert set_but_empty.is_absolute()
