#!/bin/sh
# Prints the path of a llama-cpp-python wheel for the pinned instruction set, and builds it first where it is not there yet (about
# four minutes); with --built after the Python, it exits 3 instead.
# The instruction set decides the vectors to the last bit, so the wheel is kept under a key of the flags and the hash-locked source,
# apart from pip's own cache of built wheels, which knows nothing of flags. The C library is in the key as a wheel of a newer one does
# not load on an older one.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
python=${1:-python3}
case $(uname -m) in
    x86_64) flags="-DGGML_NATIVE=OFF -DGGML_AVX=ON -DGGML_AVX2=ON -DGGML_FMA=ON -DGGML_F16C=ON -DGGML_BMI2=ON -DLLAVA_BUILD=OFF" ;;
    *) flags="-DGGML_NATIVE=OFF -DLLAVA_BUILD=OFF" ;;
esac
lock=$here/requirements/llama.txt
key=$({ uname -sm; getconf GNU_LIBC_VERSION 2>/dev/null || true; echo "$flags"; cat "$lock"; } | sha256sum | cut -c1-16)
store=${MEMBENCH_WHEELS:-${XDG_CACHE_HOME:-$HOME/.cache}/membench/wheels}/$key
if ! ls "$store"/llama_cpp_python-*.whl >/dev/null 2>&1; then
    [ "${2:-}" != --built ] || exit 3
    echo "building llama.cpp for the pinned instruction set; this takes about four minutes, once a machine" >&2
    mkdir -p "$store"
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    CMAKE_ARGS=$flags "$python" -m pip wheel --quiet --disable-pip-version-check --no-deps --no-cache-dir \
        --require-hashes --wheel-dir "$work" --requirement "$lock" >&2
    mv "$work"/llama_cpp_python-*.whl "$store"/
fi
ls "$store"/llama_cpp_python-*.whl
