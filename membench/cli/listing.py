"""`membench list`."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from membench.corpora.catalog import CORPORA
from membench.corpora.catalog import TIERS as CORPUS_TIERS
from membench.corpora.store import is_stored
from membench.embedding.catalog import DEFAULT_MODEL, MODELS
from membench.embedding.catalog import TIERS as MODEL_TIERS
from membench.embedding.store import stored_model
from membench.files.paths import cache_root
from membench.memories.catalog import SETTINGS
from membench.memories.options import setting_text
from membench.terminal.console import output


def list_command(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for a program to read.")] = False,
) -> None:
    """List the corpora, embedding models and memories, and which files are cached.

    Example: membench list
    """
    root = cache_root()
    listed = {"cache": str(root), "corpora": _corpora(root), "models": _models(root), "memories": _memories()}
    if as_json:
        typer.echo(json.dumps(listed, indent=2))
        return
    _print_files("Corpora", listed["corpora"])
    _print_files("Embedding models", listed["models"])
    table = Table(title="Memories", title_justify="left", box=None, pad_edge=False)
    for column in ("key", "options with their defaults"):
        table.add_column(column, overflow="fold")
    for memory in _memories():
        table.add_row(
            memory["key"], ", ".join(f"{name}={setting_text(value)}" for name, value in memory["options"].items())
        )
    output.print(table)
    output.print(f"\nCached files are in {root}", soft_wrap=True)
    for what, tiers in (("corpora", CORPUS_TIERS), ("models", MODEL_TIERS)):
        for tier, meaning in tiers.items():
            output.print(f"{tier} ({what}): {meaning}", soft_wrap=True)


def _corpora(root: Path) -> list[dict[str, Any]]:
    return [
        {
            "key": pin.key,
            "title": pin.title,
            "size": pin.size,
            "licence": pin.licence,
            "tier": pin.tier,
            "sha256": pin.sha256,
            "source": pin.url,
            "cached": is_stored(pin, root),
        }
        for pin in CORPORA.values()
    ]


def _models(root: Path) -> list[dict[str, Any]]:
    return [
        {
            "key": pin.key,
            "title": pin.title + (" (default)" if pin.key == DEFAULT_MODEL else ""),
            "size": pin.size,
            "licence": pin.licence,
            "tier": pin.tier,
            "sha256": pin.sha256,
            "source": pin.source,
            "notes": pin.notes,
            "cached": stored_model(pin, root) is not None,
        }
        for pin in MODELS.values()
    ]


def _memories() -> list[dict[str, Any]]:
    return [{"key": key, "options": settings().model_dump()} for key, settings in SETTINGS.items()]


def _print_files(title: str, rows: Any) -> None:
    table = Table(title=title, title_justify="left", box=None, pad_edge=False)
    for column, justify in (
        ("key", "left"),
        ("size", "right"),
        ("licence", "left"),
        ("tier", "left"),
        ("cached", "left"),
    ):
        table.add_column(column, justify=justify, no_wrap=column == "key")  # type: ignore[arg-type]
    table.add_column("what", overflow="fold")
    for row in rows:
        size = "" if row["size"] is None else f"{row['size'] / 1e6:,.1f} MB"
        table.add_row(row["key"], size, row["licence"], row["tier"], "yes" if row["cached"] else "no", row["title"])
    output.print(table)
    output.print()
