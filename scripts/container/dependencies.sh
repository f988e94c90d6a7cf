#!/bin/sh
# In the build of the image: FOLDER/venv with the hash-locked dependencies, and with llama.cpp for the pinned instruction set, from
# wheels/ where one there fits.
set -eu
folder=$1
here=$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd)
python=$folder/venv/bin/python
export MEMBENCH_WHEELS="$here/wheels" PIP_NO_CACHE_DIR=1 PIP_NO_COMPILE=1 PIP_DISABLE_PIP_VERSION_CHECK=1

python3 -m venv "$folder/venv"
if ! wheel=$("$here/scripts/llama_wheel.sh" "$python" --built); then
    apt-get update
    apt-get install --yes --no-install-recommends cmake g++ make
    wheel=$("$here/scripts/llama_wheel.sh" "$python")
fi
"$python" -m pip install --quiet --no-deps "$wheel"
"$python" -m pip install --quiet --require-hashes --requirement "$here/requirements/runtime.txt"
