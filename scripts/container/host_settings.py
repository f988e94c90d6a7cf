"""Passes this machine's pip and apt settings to a build: prints buildah's `--volume` options, one a line.

usage: host_settings.py SUITE FOLDER
SUITE is the Debian release of the image; FOLDER is where the pip.conf of the build is written.
"""

import ast
import configparser
import os
import platform
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

CERTIFICATES = "/etc/pip.crt"


def pip_settings() -> dict[str, dict[str, str]]:
    """What pip goes by here, from its files and the environment: a value for each name of each section."""
    listed = subprocess.run([sys.executable, "-m", "pip", "config", "list"], check=True, capture_output=True, text=True)
    settings: dict[str, dict[str, str]] = {"global": {}}
    for line in listed.stdout.splitlines():
        name, _, value = line.partition("=")
        section, _, option = name.rpartition(".")
        settings.setdefault(section, {})[option] = ast.literal_eval(value)
    # A file has no section for the environment, which goes before the files.
    settings["global"].update(settings.pop(":env:", {}))
    return settings


def certificates(settings: dict[str, dict[str, str]]) -> str | None:
    """The file of the authorities that pip trusts here, or None where that is left to pip."""
    found = settings["global"].get("cert") or os.environ.get("REQUESTS_CA_BUNDLE") or os.environ.get("SSL_CERT_FILE")
    return found if found and Path(found).is_file() else None


def local_paths(settings: dict[str, dict[str, str]]) -> Iterator[Path]:
    """The files and folders of this machine that the settings name: packages, pages of an index, constraints."""
    for options in settings.values():
        for word in " ".join(options.values()).split():
            # The pages of an index link to files beside its own folder.
            path = Path(unquote(urlsplit(word).path)).parent if word.startswith("file:") else Path(word)
            if path.is_absolute() and path.exists():
                yield path


def volumes(suite: str, folder: Path) -> Iterator[tuple[str, str]]:
    """Each path of this machine that the build needs, and where it stands in the build."""
    settings = pip_settings()
    if trusted := certificates(settings):
        # A path of its own: the build may write the system's anew.
        yield trusted, CERTIFICATES
        settings["global"]["cert"] = CERTIFICATES
    for local in sorted(set(local_paths(settings))):
        yield str(local), str(local)
    written = configparser.RawConfigParser()
    written.read_dict(settings)
    with (folder / "pip.conf").open("w", encoding="utf-8") as file:
        written.write(file)
    yield str(folder / "pip.conf"), "/etc/pip.conf"
    # The sources of another release would bring packages that do not fit.
    if platform.freedesktop_os_release().get("VERSION_CODENAME") == suite:
        yield "/etc/apt", "/etc/apt"
        yield "/usr/share/keyrings", "/usr/share/keyrings"


if __name__ == "__main__":
    for source, target in volumes(sys.argv[1], Path(sys.argv[2])):
        print(f"--volume={source}:{target}:ro")
