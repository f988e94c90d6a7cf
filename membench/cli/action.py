"""`membench action`."""

import os

import typer


def action_command() -> None:
    """Run as the GitHub Action: inputs from INPUT_* and the runner's variables, as the container does.

    Example: membench action (with INPUT_CORPUS=sample in its environment)
    """
    # Imported here, as no other verb needs what speaks to GitHub.
    from membench.github.entry import action

    raise typer.Exit(action(os.environ))
