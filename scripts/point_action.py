"""Points the action at a published image, and the examples at its release; or both back at the development version.

    scripts/point_action.py --image ghcr.io/membench/membench@sha256:... --ref v1.2.3
    scripts/point_action.py --development

What it writes is `runs.image` of `action.yml`, and the version of each `uses: membench/membench...` under `examples/`
and in `README.md`. No other byte changes, and the same call again changes nothing. Nothing under `.github/` is touched:
the token of a release job may push no commit that changes a workflow, and the workflows there use the action of their
own commit.

It prints the files that it changed. Exit code 1: refused, with the reason on standard error, and nothing was written.
"""

import argparse
import re
import sys
from pathlib import Path

IMAGE = re.compile(r"[a-z0-9.-]+(:[0-9]+)?(/[a-z0-9]+([._-]+[a-z0-9]+)*)+@sha256:[0-9a-f]{64}")
VERSION = re.compile(r"v[0-9]+\.[0-9]+\.[0-9]+")
RUNS = re.compile(
    rb"^(?P<before>runs:\n  using: docker\n  image: )(?:Dockerfile|docker://" + IMAGE.pattern.encode() + rb")$", re.M
)
USES = re.compile(rb"(?P<before>\buses: membench/membench(?:/[A-Za-z0-9_./-]+)?@)[A-Za-z0-9_./-]+")


class RefusedError(Exception):
    """What is asked for, or what is there, is not what a release needs; the message says which, and what was expected.

    Caught once, in `main`.
    """


def main(arguments: list[str] | None = None) -> int:
    """Return the exit code: 0 when it is as asked for, 1 when that was refused."""
    options = parse(arguments)
    image = "Dockerfile" if options.development else options.image
    ref = "main" if options.development else options.ref
    try:
        if not options.development:
            check(image, ref)
            image = f"docker://{image}"
        changed = changes(options.root, image, ref)
    except (RefusedError, OSError) as problem:
        print(f"refused: {problem}", file=sys.stderr)
        return 1
    for path, content in changed.items():
        path.write_bytes(content)
        print(path.relative_to(options.root))
    return 0


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """Return `image`, `ref`, `development` and `root`; a call that mixes the directions ends with exit code 2."""
    parser = argparse.ArgumentParser(description="Point the action at a published image, or back at its Dockerfile.")
    parser.add_argument("--image", help="the published image by digest, registry/name@sha256:<64 hex digits>")
    parser.add_argument("--ref", help="the tag of the release, vX.Y.Z")
    parser.add_argument("--development", action="store_true", help="back to the Dockerfile and to main")
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parents[1], help="the repository")
    options = parser.parse_args(arguments)
    if options.development == bool(options.image or options.ref):
        parser.error("give --image and --ref, or --development")
    if not options.development and not (options.image and options.ref):
        parser.error("a release needs both --image and --ref")
    return options


def check(image: str, ref: str) -> None:
    """Raise RefusedError unless the image is named by digest and the ref is a release's."""
    if not IMAGE.fullmatch(image):
        raise RefusedError(
            f"{image} is not an image by digest; a tag can be moved to another image. "
            "Expected registry/name@sha256:<64 lower-case hex digits>, without docker://"
        )
    if not VERSION.fullmatch(ref):
        raise RefusedError(f"{ref} is not the tag of a release; expected vX.Y.Z")


def changes(root: Path, image: str, ref: str) -> dict[Path, bytes]:
    """Return the new content of each file that is not yet as asked for.

    Raises RefusedError where a file is not as expected, and OSError where it cannot be read.
    """
    action = root / "action.yml"
    wanted = {action: pointed_action(action.read_bytes(), image)}
    for path in [root / "README.md", *sorted((root / "examples").rglob("*.yml"))]:
        wanted[path] = USES.sub(rb"\g<before>" + ref.encode(), path.read_bytes())
    if not any(USES.search(content) for content in wanted.values()):
        raise RefusedError(f"no example under {root / 'examples'} has a `uses: membench/membench...@...`")
    return {path: content for path, content in wanted.items() if content != path.read_bytes()}


def pointed_action(content: bytes, image: str) -> bytes:
    """Return `action.yml` with this `runs.image`. Raises RefusedError where that line cannot be found beyond doubt."""
    if len(RUNS.findall(content)) != 1 or content.count(b"\nruns:") != 1:
        raise RefusedError(
            "action.yml does not have the one block that was expected: `runs:`, `  using: docker`, "
            "`  image: Dockerfile` (or docker:// and an image by digest)"
        )
    return RUNS.sub(rb"\g<before>" + image.encode(), content)


if __name__ == "__main__":
    sys.exit(main())
