#!/bin/sh
# Makes ARCHIVE, the root of a Debian with Python and pip, for a build without Docker: like the image that the Dockerfile names, it has no
# manuals and no translations, and keeps no packages. Its name has a key of this file.
set -eu
archive=$1
suite=bookworm
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# apt expands the names. An empty mirror is debootstrap's own default.
# shellcheck disable=SC2016
mirror=$(apt-get indextargets --format '$(CODENAME) $(ORIGIN) $(REPO_URI)' | sed -n "s/^$suite Debian //p" | head -1)
debootstrap --variant=minbase --include=ca-certificates,python3,python3-pip,python3-venv "$suite" "$work/root" \
    ${mirror:+"$mirror"} >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
cat >"$work/root/etc/dpkg/dpkg.cfg.d/slim" <<'SLIM'
path-exclude /usr/share/doc/*
path-exclude /usr/share/info/*
path-exclude /usr/share/locale/*
path-exclude /usr/share/man/*
path-include /usr/share/doc/*/copyright
SLIM
cd "$work/root"
find usr/share/doc ! -type d ! -name copyright -delete
find usr/share/info usr/share/locale usr/share/man ! -type d -delete
rm -rf var/cache/apt/* var/lib/apt/lists/*
mkdir -p "$(dirname "$archive")"
tar -cf "$archive.part" .
mv "$archive.part" "$archive"
