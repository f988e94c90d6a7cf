"""The option of every verb that holds the cache folder."""

from typing import Annotated

import typer

Wait = Annotated[
    float, typer.Option("--wait", min=0, help="Seconds to wait for another run that holds the cache folder.")
]
