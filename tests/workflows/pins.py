"""The actions of others that workflows and examples use: the commit, the version it is, and where that was read.

A new pin is added here by a person who looked it up: the releases of the action, or workflows that name both.
"""

from typing import NamedTuple


class Pin(NamedTuple):
    commit: str
    version: str
    read_in: str


PINS = {
    "actions/checkout": Pin(
        "3d3c42e5aac5ba805825da76410c181273ba90b1",
        "v7.0.1",
        "https://github.com/ChrisCarini/jetbrains-auto-power-saver/pull/811",
    ),
    "actions/setup-python": Pin(
        "5fda3b95a4ea91299a34e894583c3862153e4b97", "v7.0.0", "https://github.com/ms609/citation-bot/pull/6023"
    ),
    "actions/cache": Pin("55cc8345863c7cc4c66a329aec7e433d2d1c52a9", "v6.1.0", "public workflows, beside this version"),
    "actions/upload-artifact": Pin(
        "043fb46d1a93c77aae656e7c1c64a875d1fc6a0a", "v7.0.1", "public workflows, beside this version"
    ),
    "actions/download-artifact": Pin(
        "3e5f45b2cfb9172054b4087a40e8e0b5a5461e7c", "v8.0.1", "public workflows, beside this version"
    ),
    "actions/attest-build-provenance": Pin(
        "0f67c3f4856b2e3261c31976d6725780e5e4c373", "v4.1.1", "https://github.com/attested-delivery/.github/pull/30"
    ),
}
