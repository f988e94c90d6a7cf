#!/bin/sh
# Prints the command that builds and runs containers here: docker where an engine answers, else buildah with a storage of its own, which
# needs no engine and no privileges beyond root's. What buildah needs is installed where that is possible.
set -eu
if docker info >/dev/null 2>&1; then
    echo docker
    exit
fi
if [ "$(id -u)" != 0 ]; then
    echo "No Docker engine answers here, and building without one takes root: start Docker, or run this as root." >&2
    exit 1
fi
if ! command -v buildah >/dev/null || ! command -v debootstrap >/dev/null; then
    if ! command -v apt-get >/dev/null; then
        echo "No Docker engine answers here: start Docker, or install buildah and debootstrap." >&2
        exit 1
    fi
    echo "no Docker engine answers here; installing buildah and debootstrap" >&2
    { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq --yes --no-install-recommends buildah debootstrap; } >&2
fi
store=${XDG_CACHE_HOME:-$HOME/.cache}/membench/container
echo "buildah --root $store/storage --runroot $store/run --storage-driver vfs"
