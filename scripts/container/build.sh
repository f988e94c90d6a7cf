#!/bin/sh
# Builds the image of the action under the name IMAGE, as GitHub would; PYTHON has pip. With Docker its base is the one that the
# Dockerfile names. Without, it is the same release of Debian, made once and kept in the user's cache folder, and the build goes by this
# machine's pip and apt settings.
set -eu
image=$1
python=${2:-python3}
here=$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd)
engine=$("$here/scripts/container/engine.sh")
wheel=$("$here/scripts/llama_wheel.sh" "$python")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The context: what .dockerignore lets through, and the wheel of llama.cpp that is here, which the image takes if it fits.
mkdir "$work/context"
cp "$here/.dockerignore" "$work/context"
sed -n 's/^!//p' "$here/.dockerignore" | while read -r part; do
    [ "$part" = wheels ] || cp -a "$here/$part" "$work/context"
done
key=$(basename "$(dirname "$wheel")")
mkdir -p "$work/context/wheels/$key"
cp "$wheel" "$work/context/wheels/$key"

if [ "$engine" = docker ]; then
    docker build --tag "$image" "$work/context"
    exit
fi

# An image of the same context is not built again: without Docker's layers that takes a minute.
digest=$(tar -C "$work/context" --sort=name --mtime=@0 --owner=0 --group=0 --exclude=__pycache__ -cf - . | sha256sum | cut -c1-64)
if $engine inspect --type image "$image" 2>/dev/null | grep -q "$digest"; then
    echo "$image is built of what is here already" >&2
    exit
fi
base=membench-base:$(sha256sum "$here/scripts/container/base.sh" | cut -c1-16)
if ! $engine inspect --type image "$base" >/dev/null 2>&1; then
    archive=${XDG_CACHE_HOME:-$HOME/.cache}/membench/container/$(echo "$base" | tr : -).tar
    if ! [ -f "$archive" ]; then
        echo "making a Debian base; this takes about a minute, once a machine" >&2
        rm -f "$(dirname "$archive")"/membench-base-*.tar
        "$here/scripts/container/base.sh" "$archive"
    fi
    container=$($engine from scratch)
    $engine add --quiet "$container" "$archive" / >/dev/null
    $engine commit --quiet --rm "$container" "$base" >/dev/null
fi

echo "building $image; this takes about a minute" >&2
"$python" "$here/scripts/container/host_settings.py" bookworm "$work" >"$work/options"
# One layer, as this storage driver copies the whole of each. One word of the file is one option.
# shellcheck disable=SC2046
$engine bud --isolation chroot --layers=false --build-arg BASE="localhost/$base" $(cat "$work/options") \
    --label membench.context="$digest" --tag "$image" "$work/context" >"$work/log" 2>&1 ||
    { cat "$work/log" >&2; exit 1; }
$engine rmi --prune >/dev/null
