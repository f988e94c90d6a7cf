"""What GitHub's description says of a request and of an answer."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

from jsonschema import Draft4Validator
from jsonschema.exceptions import ValidationError
from jsonschema.validators import extend
from openapi_schema_validator import OAS30Validator, oas30_format_checker
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT4

_DOCUMENT = "urn:github"
# Told in the prose of the operations that have it, and not in their schemas.
RAW = "application/vnd.github.raw"
_BASIC_ERROR = "/components/schemas/basic-error"
_SHOWN = 4
_LABELS = "/repos/{owner}/{repo}/issues/{issue_number}/labels"

# Any operation can be refused for the token, for a limit or by a broken server, though the description seldom says so;
# a thing that is not there is 404 everywhere, and what is asked for again may be unchanged.
_ANYWHERE = frozenset({304, 401, 403, 404, 429, 500, 502, 503, 504})


def _choice(keyword: str) -> Any:
    """Return a keyword's check that lets null pass where it is nullable, and tries every choice.

    The library lets null pass only beside a type, and takes a discriminator for the proof that there is an object;
    GitHub writes neither so: an author is a nullable ``oneOf``, and a folder's content is an array in one.
    """
    plain = Draft4Validator.VALIDATORS[keyword]

    def check(validator: Any, choices: Any, instance: Any, schema: Mapping[str, Any]) -> Iterator[ValidationError]:
        if instance is not None or not schema.get("nullable"):
            yield from plain(validator, choices, instance, schema)

    return check


_Validator = extend(OAS30Validator, {keyword: _choice(keyword) for keyword in ("oneOf", "anyOf", "allOf")})


@dataclass(frozen=True)
class Operation:
    """One operation of the description: a method and a path template, with the parameters that a path gave it."""

    method: str
    template: str
    spec: Mapping[str, Any] = field(repr=False)
    path: Mapping[str, str]

    @property
    def pointer(self) -> str:
        return f"/paths/{_escaped(self.template)}/{self.method.lower()}"

    @property
    def documentation_url(self) -> str:
        url: str = self.spec["externalDocs"]["url"]
        return url


class Contract:
    """Finds the operation of a request, and checks requests and answers against it. Threads may share one."""

    def __init__(self, description: Mapping[str, Any]) -> None:
        self._description = description
        resource = Resource(contents=description, specification=DRAFT4)
        self._registry: Registry[Any] = Registry().with_resource(_DOCUMENT, resource)
        self._validators: dict[str, Any] = {}
        self._compiled: dict[tuple[str, ...], list[tuple[re.Pattern[str], str]]] = {}

    def operation(self, method: str, path: str) -> Operation | None:
        """Return the operation that a request's path (still percent-encoded) means, the most literal one, or None."""
        for pattern, template in self._templates(method, path):
            match = pattern.fullmatch(path)
            if match:
                parameters = {name: unquote(value) for name, value in match.groupdict().items()}
                return Operation(method, template, self._description["paths"][template][method.lower()], parameters)
        return None

    def check_request(self, operation: Operation, query: Mapping[str, list[str]], body: Any) -> list[str]:
        """Return what is wrong with a request: parameters and body. ``body`` is parsed JSON, None for none."""
        return [*self._wrong_path(operation), *self._wrong_query(operation, query), *self._wrong_body(operation, body)]

    def check_answer(self, operation: Operation, status: int, media: str, body: Any) -> list[str]:
        """Return what is wrong with an answer; ``body`` is parsed JSON, text for another media type, None for none."""
        response, pointer = self._resolved(
            operation.spec["responses"].get(str(status)), f"{operation.pointer}/responses/{status}"
        )
        if response is None and status not in _ANYWHERE:
            return [f"the status {status} is not described"]
        content = (response or {}).get("content", {})
        if media in content:
            return self._wrong(f"{pointer}/content/{_escaped(media)}/schema", body, "answer")
        if media == RAW and isinstance(body, str) and status == 200:
            return []
        if status >= 400:
            return self._wrong(_BASIC_ERROR, body, "answer")
        return [] if body is None else [f"an answer of the media type {media!r} is not described for {status}"]

    def _templates(self, method: str, path: str) -> list[tuple[re.Pattern[str], str]]:
        """Return the templates that may be a path's, the most literal first: of those that match, it is meant."""
        key = (method.lower(), *_place(path))
        if key not in self._compiled:
            paths = self._description["paths"]
            near = [it for it in paths if _place(it) == key[1:] and key[0] in paths[it]]
            near.sort(key=lambda it: -len(re.sub(r"{\w+}", "", it)))
            self._compiled[key] = [(self._pattern(it, paths[it][key[0]]), it) for it in near]
        return self._compiled[key]

    def _pattern(self, template: str, spec: Mapping[str, Any]) -> re.Pattern[str]:
        wide = {it["name"] for it in self._parameters(spec, "path") if it.get("x-multi-segment")}

        def group(match: re.Match[str]) -> str:
            name = match.group(1)
            # The root of a repository is the path that is empty.
            one = ".*" if name == "path" else ".+"
            return f"(?P<{name}>{one if name in wide else '[^/]+'})"

        parts = re.split(r"({\w+})", template)
        return re.compile("".join(re.sub(r"{(\w+)}", group, it) if it[:1] == "{" else re.escape(it) for it in parts))

    def _parameters(self, spec: Mapping[str, Any], where: str) -> Iterator[Mapping[str, Any]]:
        for parameter in spec.get("parameters", ()):
            resolved, _ = self._resolved(parameter, "")
            if resolved["in"] == where:
                yield resolved

    def _resolved(self, node: Any, pointer: str) -> tuple[Any, str]:
        while node is not None and "$ref" in node:
            pointer = node["$ref"].removeprefix("#")
            node = self._description
            for part in pointer.strip("/").split("/"):
                node = node[part.replace("~1", "/").replace("~0", "~")]
        return node, pointer

    def _wrong_path(self, operation: Operation) -> Iterator[str]:
        for parameter in self._parameters(operation.spec, "path"):
            name = parameter["name"]
            yield from self._wrong_parameter(parameter, operation.path.get(name, ""), f"path parameter {name}")

    def _wrong_query(self, operation: Operation, query: Mapping[str, list[str]]) -> Iterator[str]:
        described = {it["name"]: it for it in self._parameters(operation.spec, "query")}
        for name, values in query.items():
            if name not in described:
                yield f"the query parameter {name} is not described"
                continue
            if len(values) > 1:
                yield f"the query parameter {name} is given {len(values)} times"
            yield from self._wrong_parameter(described[name], values[0], f"query parameter {name}")
        missing = [name for name, it in described.items() if it.get("required") and name not in query]
        yield from (f"the query parameter {name} is missing" for name in missing)

    def _wrong_parameter(self, parameter: Mapping[str, Any], text: str, place: str) -> list[str]:
        schema, _ = self._resolved(parameter["schema"], "")
        value: Any = text
        if schema.get("type") == "integer" and re.fullmatch(r"-?\d+", text):
            value = int(text)
        elif schema.get("type") == "boolean" and text in ("true", "false"):
            value = text == "true"
        return _told(_Validator(schema, registry=self._registry).iter_errors(value), place)

    def _wrong_body(self, operation: Operation, body: Any) -> Iterator[str]:
        body = _as_described(operation, body)
        wanted, pointer = self._resolved(operation.spec.get("requestBody"), f"{operation.pointer}/requestBody")
        if body is None:
            if wanted and wanted.get("required"):
                yield "the body is missing"
            return
        if not wanted:
            yield "a body is not described"
            return
        pointer += "/content/application~1json/schema"
        yield from self._wrong(pointer, body, "body")
        # GitHub ignores a field that it does not know: a misspelt one would have no effect, and no test would tell.
        known = self._known_fields({"$ref": f"#{pointer}"})
        if known is not None and isinstance(body, dict):
            yield from (f"the field {name} of the body is not described" for name in body if name not in known)

    def _known_fields(self, schema: Any) -> set[str] | None:
        """Return the fields that an object schema describes, None when it lets any pass."""
        schema, _ = self._resolved(schema, "")
        known = set(schema.get("properties", ()))
        for choice in (*schema.get("oneOf", ()), *schema.get("anyOf", ()), *schema.get("allOf", ())):
            known |= self._known_fields(choice) or set()
        return known if known and not schema.get("additionalProperties") else None

    def _wrong(self, pointer: str, value: Any, place: str) -> list[str]:
        if pointer not in self._validators:
            self._validators[pointer] = _Validator(
                {"$ref": f"{_DOCUMENT}#{pointer}"}, registry=self._registry, format_checker=oas30_format_checker
            )
        return _told(self._validators[pointer].iter_errors(value), place)


def _place(path: str) -> tuple[str, str]:
    """Return the part of the API that a path or a template lies in."""
    parts = [*path.split("/"), "", "", "", ""]
    return parts[1], parts[4] if parts[1] == "repos" else ""


def _as_described(operation: Operation, body: Any) -> Any:
    """Return a body of labels in the form that the schema knows.

    The description's prose takes a bare array, a bare name and an empty array too, which its schema forgets.
    """
    if operation.template != _LABELS or body is None:
        return body
    if isinstance(body, list | str):
        body = {"labels": [body] if isinstance(body, str) else body}
    return None if operation.method == "PUT" and body == {"labels": []} else body


def _told(errors: Iterable[ValidationError], place: str) -> list[str]:
    told = [f"{place}{error.json_path.removeprefix('$')}: {_short(error)}" for error in errors]
    return told[:_SHOWN]


def _short(error: ValidationError) -> str:
    causes = [f"{it.json_path.removeprefix('$')} {it.message[:200]}".strip() for it in error.context or ()]
    return error.message[:200] + (f" ({'; '.join(causes[:_SHOWN])})" if causes else "")


def _escaped(part: str) -> str:
    """Return a key as a JSON pointer holds it."""
    return part.replace("~", "~0").replace("/", "~1")
