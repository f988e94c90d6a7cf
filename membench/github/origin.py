"""What provenance says of where a measurement comes from."""

from membench.github.context import Context
from membench.github.inputs import Inputs
from membench.reports.provenance import Source


def command_of(inputs: Inputs) -> list[str]:
    """The inputs that were given, save the token, and without those that are as empty ones."""
    given = inputs.model_dump(
        mode="json", by_alias=True, exclude_unset=True, exclude_none=True, exclude={"github_token"}
    )
    return ["membench", "action", *(f"{name}={value}" for name, value in given.items())]


def source_of(context: Context) -> Source:
    """The repository, the commit and the run."""
    return Source(repository=context.repository, commit=context.commit, run=context.run_url)
