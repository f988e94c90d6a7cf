"""Canonical JSON: equal values are equal bytes, and a change of one query is a change of one line."""

import json
from typing import Any

from membench.reports.model import Report


def canonical_json(report: Report) -> bytes:
    """UTF-8, fields in declared order, floats in their shortest exact form, ending in a newline.

    Objects and arrays are indented down to the second level; what lies deeper stands on one line.
    """
    return (_written(report.model_dump(mode="json", by_alias=True), depth=0) + "\n").encode()


def _written(value: Any, depth: int) -> str:
    if depth == 2 or not value or not isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    indent = " " * (depth + 1)
    if isinstance(value, dict):
        parts = [f"{json.dumps(key, ensure_ascii=False)}: {_written(item, depth + 1)}" for key, item in value.items()]
    else:
        parts = [_written(item, depth + 1) for item in value]
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    body = ",\n".join(indent + part for part in parts)
    return f"{opening}\n{body}\n{' ' * depth}{closing}"
