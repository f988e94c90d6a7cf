"""What GitHub knows beside git: issues, pull requests, labels, comments, and a clock that tests can move."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

ACTIONS = "github-actions[bot]"


@dataclass
class Clock:
    """GitHub's time. It stands still until ``tick`` or ``advance``: equal runs give equal dates and equal commits."""

    now: datetime = datetime(2026, 1, 1, 3, 0, tzinfo=UTC)

    def tick(self) -> datetime:
        """Move on by a second, so that the order of writes can be read from their dates; return the new time."""
        self.now += timedelta(seconds=1)
        return self.now

    def advance(self, **span: float) -> None:
        """Move on by a time span, named as ``timedelta`` names it: ``advance(days=1)``."""
        self.now += timedelta(**span)


@dataclass
class Label:
    """A label of the repository."""

    id: int
    name: str
    color: str = "ededed"
    description: str = ""


@dataclass
class Comment:
    """A comment on an issue or a pull request (``number``)."""

    id: int
    number: int
    body: str
    login: str
    created_at: datetime
    updated_at: datetime


@dataclass
class Issue:
    """An issue; ``labels`` are names, in the order in which they were added."""

    number: int
    title: str
    body: str | None
    login: str
    created_at: datetime
    updated_at: datetime
    state: str = "open"
    closed_at: datetime | None = None
    closed_by: str | None = None
    labels: list[str] = field(default_factory=list)
    assignees: list[str] = field(default_factory=list)


@dataclass
class PullRequest(Issue):
    """A pull request between two branches of the repository.

    ``head_sha`` follows the branch ``head`` while the pull request is open; ``base_sha`` is where ``base`` stood when
    the pull request was opened, last pushed to, or given another base.
    """

    head: str = ""
    head_sha: str = ""
    base: str = ""
    base_sha: str = ""
    draft: bool = False
    maintainer_can_modify: bool = False
    reviewers: list[str] = field(default_factory=list)
    merged_at: datetime | None = None
    merged_by: str | None = None
    merge_commit_sha: str | None = None

    @property
    def merged(self) -> bool:
        return self.merged_at is not None


@dataclass(frozen=True)
class Ping:
    """Something the token under test did that notifies people about issue or pull request ``number``.

    ``event`` is opened, pushed, commented, review_requested, assigned, closed or reopened.
    """

    event: str
    number: int


@dataclass
class State:
    """All of it. ``issues`` holds the pull requests too.

    ``accounts`` maps the e-mail addresses of commits to logins, ``verified`` holds the commits that GitHub signed,
    ``token_login`` is who the token under test acts as.
    """

    clock: Clock = field(default_factory=Clock)
    issues: dict[int, Issue] = field(default_factory=dict)
    labels: dict[str, Label] = field(default_factory=dict)
    comments: list[Comment] = field(default_factory=list)
    pings: list[Ping] = field(default_factory=list)
    accounts: dict[str, str] = field(default_factory=dict)
    verified: set[str] = field(default_factory=set)
    token_login: str = ACTIONS

    @property
    def pull_requests(self) -> list[PullRequest]:
        return [it for it in self.issues.values() if isinstance(it, PullRequest)]

    def ping(self, event: str, number: int, by: str) -> None:
        """Note that ``by`` notified people, if it is the token under test: people may write as they like."""
        if by == self.token_login:
            self.pings.append(Ping(event, number))

    def label(self, name: str) -> Label:
        """Return the label of a name, whatever its case, created when it is missing."""
        known = self.labels.get(name.casefold())
        if known is None:
            known = self.labels[name.casefold()] = Label(1000 + len(self.labels), name)
        return known

    def comment(self, number: int, body: str, by: str) -> Comment:
        """Add a comment and return it."""
        now = self.clock.tick()
        comment = Comment(1 + max((it.id for it in self.comments), default=100), number, body, by, now, now)
        self.comments.append(comment)
        self.issues[number].updated_at = now
        self.ping("commented", number, by)
        return comment
