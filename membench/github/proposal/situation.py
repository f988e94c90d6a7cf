"""What a decision about the pull request is made from: facts, by path and by Git object id."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

Blobs = Mapping[str, str]
"""The Git object id of each file in the folder of baselines, by its path."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """What this run measured. ``changed``: the bytes of each file that is to be accepted anew, by its path in the
    repository. ``unchanged``: the paths whose accepted file still holds.
    """

    changed: Mapping[str, bytes]
    unchanged: frozenset[str]

    @property
    def paths(self) -> frozenset[str]:
        """Everything that was measured; nothing else is ever touched."""
        return self.unchanged | self.changed.keys()


@dataclass(frozen=True, slots=True)
class PullRequest:
    """One pull request from the baseline branch to the base.

    ``head`` is the commit that it proposes; ``emptied``: membench closed it, because nothing was left to propose.
    """

    number: int
    url: str
    is_open: bool
    merged: bool
    emptied: bool
    head: str


@dataclass(frozen=True, slots=True)
class Situation:
    """How GitHub stands at one moment.

    ``base_tip`` and ``tip`` are commits, ``tip`` None where there is no baseline branch; ``base`` and ``branch`` are
    what they hold in the folder of baselines. ``pulls`` are the branch's, the newest first. ``declined``: the numbers
    of the pull requests that a person closed unmerged, by the path and id of each file that they proposed.
    """

    base_tip: str
    base: Blobs
    tip: str | None
    branch: Blobs
    pulls: tuple[PullRequest, ...]
    declined: Mapping[tuple[str, str], int]

    @property
    def open_pull(self) -> PullRequest | None:
        """The open one; GitHub allows one for a branch and a base."""
        return next((pull for pull in self.pulls if pull.is_open), None)

    @property
    def left_behind(self) -> bool:
        """Whether the branch stands where a finished pull request left it."""
        return any(not pull.is_open and pull.head == self.tip for pull in self.pulls)


def blob_id(data: bytes) -> str:
    """The id under which Git stores ``data`` as a file."""
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()
