"""The bare git repository: every object and every ref goes through the git binary."""

import os
import re
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

NO_OBJECT = "0" * 40

# Nothing of the developer's own git settings, nor of a git hook that runs the tests, may reach this repository.
_CLEAN = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")} | {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_TERMINAL_PROMPT": "0",
}


class GitError(Exception):
    """A git command failed; the text is its standard error."""


@dataclass(frozen=True)
class Found:
    """An object: its SHA, its type (``blob``, ``tree``, ``commit``, ``tag``) and its content."""

    sha: str
    kind: str
    data: bytes


@dataclass(frozen=True)
class Entry:
    """One entry of a tree; ``size`` is None for what is not a blob."""

    mode: str
    kind: str
    sha: str
    size: int | None
    path: str


class Repository:
    """A bare repository below ``git_dir``, read through one long-lived ``git cat-file``. Not thread-safe."""

    def __init__(self, git_dir: Path, default_branch: str) -> None:
        self.git_dir = git_dir
        git_dir.mkdir(parents=True)
        self.git("init", "--quiet", "--bare", "--template=", f"--initial-branch={default_branch}")
        self._reader = subprocess.Popen(
            ["git", "cat-file", "--batch"], cwd=git_dir, env=self._env(), stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

    def close(self) -> None:
        """End the reading process."""
        self._reader.communicate()

    def git(self, *arguments: str, data: bytes = b"", env: Mapping[str, str] | None = None) -> bytes:
        """Return the standard output of a git command in this repository. Raises GitError when it fails."""
        done = subprocess.run(
            ["git", *arguments], cwd=self.git_dir, env=self._env() | dict(env or {}), input=data, capture_output=True
        )
        if done.returncode:
            raise GitError(done.stderr.decode(errors="replace").strip())
        return done.stdout

    def read(self, name: str) -> Found | None:
        """Return the object that a git revision (``SHA``, ``REF``, ``REF:PATH``) names, None when there is none."""
        if not name or "\n" in name:
            return None
        ask, reply = self._pipes()
        ask.write(name.encode() + b"\n")
        ask.flush()
        head = reply.readline().decode(errors="replace").rstrip("\n")
        if head.endswith((" missing", " ambiguous")):
            return None
        sha, kind, size = head.split(" ")
        data = reply.read(int(size))
        reply.read(1)
        return Found(sha, kind, data)

    def sha(self, name: str, kind: str = "commit") -> str | None:
        """Return the SHA of what a revision names, peeled to ``kind``, None when there is no such object."""
        found = self.read(f"{name}^{{{kind}}}")
        return found.sha if found else None

    def ref(self, name: str) -> str | None:
        """Return the SHA that a full ref (``refs/heads/main``) stands at, None when there is no such ref."""
        # What git would take for an expression, and not for a name, is no ref.
        found = None if re.search(r"[~^:?*\[\\\s]|@\{|\.\.", name) else self.read(name)
        return found.sha if found else None

    def refs(self, prefix: str) -> dict[str, str]:
        """Return the refs whose full name begins with ``prefix``, in order, with the SHA of each."""
        lines = self.git("for-each-ref", "--format=%(refname) %(objectname)").decode().splitlines()
        pairs = (line.split(" ") for line in lines)
        return {name: sha for name, sha in pairs if name.startswith(prefix)}

    def update_ref(self, name: str, new: str | None, old: str | None = None) -> None:
        """Move a full ref from ``old`` (None: it must not exist) to ``new`` (None: delete it). Raises GitError."""
        if new is None:
            self.git("update-ref", "-d", name, old or "")
        else:
            self.git("update-ref", name, new, old or NO_OBJECT)

    def write_blob(self, data: bytes) -> str:
        """Store a blob and return its SHA."""
        return self.git("hash-object", "-w", "--stdin", data=data).decode().strip()

    def write_commit(self, text: bytes) -> str:
        """Store a commit, given as git's own text of it, and return its SHA. Raises GitError when it is malformed."""
        return self.git("hash-object", "-t", "commit", "-w", "--stdin", data=text).decode().strip()

    def write_tree(self, base: str | None, changes: Mapping[str, tuple[str, str] | None]) -> str:
        """Store a tree: ``base`` with each path set to a mode and a SHA, or removed (None). Returns its SHA."""
        lines = [f"{it[0]} {it[1]}\t{path}" if it else f"0 {NO_OBJECT}\t{path}" for path, it in changes.items()]
        with tempfile.TemporaryDirectory() as folder:
            env = {"GIT_INDEX_FILE": str(Path(folder) / "index")}
            if base:
                self.git("read-tree", base, env=env)
            self.git("update-index", "-z", "--index-info", data="".join(f"{it}\0" for it in lines).encode(), env=env)
            return self.git("write-tree", env=env).decode().strip()

    def replayed_tree(self, commit: str, onto: str) -> str:
        """Return the tree of a commit's changes applied to another commit. Raises GitError when they conflict."""
        patch = self.git("diff-tree", "-p", "--binary", f"{commit}^", commit)
        with tempfile.TemporaryDirectory() as folder:
            env = {"GIT_INDEX_FILE": str(Path(folder) / "index")}
            self.git("read-tree", onto, env=env)
            if patch:
                self.git("apply", "--cached", data=patch, env=env)
            return self.git("write-tree", env=env).decode().strip()

    def merged_tree(self, ours: str, theirs: str) -> str:
        """Return the tree of the merge of two commits. Raises GitError when they conflict."""
        return self.git("merge-tree", "--write-tree", ours, theirs).decode().splitlines()[0]

    def tree(self, name: str, recursive: bool = False) -> list[Entry]:
        """Return the entries of a tree, with ``recursive`` those below it too, trees included."""
        flags = ["-r", "-t"] if recursive else []
        entries = []
        for line in self.git("ls-tree", "-l", "-z", *flags, name).decode().split("\0")[:-1]:
            facts, path = line.split("\t", 1)
            mode, kind, sha, size = facts.split()
            entries.append(Entry(mode, kind, sha, None if size == "-" else int(size), path))
        return entries

    def is_ancestor(self, old: str, new: str) -> bool:
        """Return whether ``new`` holds ``old``; a commit holds itself."""
        return self.merge_base(old, new) == old

    def merge_base(self, one: str, other: str) -> str | None:
        """Return the best common ancestor of two commits, None when their histories are apart."""
        try:
            return self.git("merge-base", one, other).decode().strip()
        except GitError:
            return None

    def log(self, *arguments: str) -> list[str]:
        """Return the commits that ``git rev-list`` lists for the arguments, the newest first."""
        return self.git("rev-list", *arguments).decode().split()

    def changes(self, old: str, new: str) -> list[tuple[str, str, str, int, int]]:
        """Return what changed between two trees: path, letter (A, M, D, T), SHA, lines added and removed."""
        flags: Sequence[str] = ("-r", "-z", "--no-renames", old, new)
        raw = self.git("diff-tree", "--raw", "--no-abbrev", *flags).decode().split("\0")[:-1]
        counts = {}
        for line in self.git("diff-tree", "--numstat", *flags).decode().split("\0")[:-1]:
            added, removed, path = line.split("\t", 2)
            counts[path] = (0, 0) if added == "-" else (int(added), int(removed))
        found = []
        for facts, path in zip(raw[::2], raw[1::2], strict=True):
            _, _, before, after, letter = facts.split(" ")
            found.append((path, letter[0], before if letter[0] == "D" else after, *counts[path]))
        return found

    def _env(self) -> dict[str, str]:
        return _CLEAN | {"GIT_DIR": str(self.git_dir)}

    def _pipes(self) -> tuple[IO[Any], IO[Any]]:
        if self._reader.stdin is None or self._reader.stdout is None:
            raise GitError("git cat-file has no pipes")
        return self._reader.stdin, self._reader.stdout
