from pathlib import Path

import pytest

from membench.errors import StorageError
from membench.files.digest import sha256_of


def test_the_digest_is_that_of_the_standard(tmp_path: Path) -> None:
    (tmp_path / "abc").write_bytes(b"abc")
    # FIPS 180-2, appendix B.1.
    assert sha256_of(tmp_path / "abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


def test_a_missing_file_and_a_folder_are_storage_errors(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="gone cannot be read: No such file"):
        sha256_of(tmp_path / "gone")
    with pytest.raises(StorageError, match="cannot be read: Is a directory"):
        sha256_of(tmp_path)
