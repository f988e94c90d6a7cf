"""The verbs, put together."""

from typing import Annotated

import typer

from membench import __version__
from membench.cli import action, check_memory, compare, fetch, listing, merge, retrieval, schema

app = typer.Typer(
    name="membench",
    help="Did this change make the agent's memory better or worse?",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"membench {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    pass


app.command("list")(listing.list_command)
app.command("fetch")(fetch.fetch_command)
app.command("retrieval")(retrieval.retrieval_command)
app.command("merge")(merge.merge_command)
app.command("compare")(compare.compare_command)
app.command("check-memory")(check_memory.check_memory_command)
app.command("schema")(schema.schema_command)
app.command("action")(action.action_command)
