"""What belongs to whom: the files that root leaves on the runner's disk, and variables that are not the caller's."""

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

_PRIVATE = re.compile(r"INPUT_|ACTIONS_|GITHUB_(TOKEN|OUTPUT|ENV|PATH|STATE|STEP_SUMMARY)$")


def trusting(environment: Mapping[str, str], workspace: Path) -> dict[str, str]:
    """The variables by which Git, started from here, trusts ``workspace``, which belongs to another user.

    They hold for this process and those that it starts: no configuration file is changed.
    """
    if environment.get("GIT_CONFIG_VALUE_0") == str(workspace):
        return {}
    stated = environment.get("GIT_CONFIG_COUNT", "")
    count = int(stated) if stated.isdecimal() else 0
    return {
        "GIT_CONFIG_COUNT": str(count + 1),
        f"GIT_CONFIG_KEY_{count}": "safe.directory",
        f"GIT_CONFIG_VALUE_{count}": str(workspace),
    }


def for_others(environment: Mapping[str, str], workspace: Path) -> dict[str, str]:
    """``environment`` without the token, the runner's other secrets and the files by which a step speaks to it.

    Neither the caller's setup nor the memory under test has any business with them.
    """
    kept = {name: value for name, value in environment.items() if not _PRIVATE.match(name)}
    return kept | trusting(kept, workspace)


def give_back(folders: list[Path]) -> None:
    """Gives what root owns in each of ``folders`` to whom the folder belongs: root's files break the next checkout.

    Does nothing where this process is not root, or the folder is root's own. Links are not followed.
    """
    if os.geteuid() != 0:
        return
    for folder in folders:
        with suppress(OSError):
            owner = folder.stat()
            if owner.st_uid:
                for path in _roots(folder):
                    with suppress(OSError):
                        os.chown(path, owner.st_uid, owner.st_gid, follow_symlinks=False)


def _roots(folder: Path) -> Iterator[str]:
    waiting = [str(folder)]
    while waiting:
        with suppress(OSError), os.scandir(waiting.pop()) as entries:
            for entry in entries:
                if entry.stat(follow_symlinks=False).st_uid == 0:
                    yield entry.path
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
