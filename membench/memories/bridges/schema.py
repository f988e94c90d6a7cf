"""The contract as documents: a JSON Schema of all messages, and the OpenAPI description of the HTTP service."""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from membench.memories.bridges.answers import ANSWERS, Call
from membench.memories.bridges.messages import (
    VERSION,
    CloseCall,
    DescribeCall,
    Failure,
    Message,
    OpenCall,
    SearchCall,
    WriteCall,
)

CALLS: Mapping[Call, type[Message]] = {
    "describe": DescribeCall,
    "open": OpenCall,
    "write": WriteCall,
    "search": SearchCall,
    "close": CloseCall,
}


def memory_schema() -> dict[str, Any]:
    """The JSON Schema of a line of the command bridge, either way; ``$defs`` has the messages of all bridges."""
    lines = {f"{call.capitalize()}Line": _call_line(call) for call in CALLS}
    answer = {"$ref": "#/$defs/AnswerLine"}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": VERSION,
        "description": "One line that membench writes to a memory's command, or that the command writes back.",
        "anyOf": [*({"$ref": f"#/$defs/{name}"} for name in lines), answer],
        "$defs": {**_definitions("#/$defs/{model}"), **lines, "AnswerLine": _answer_line()},
    }


def http_openapi() -> dict[str, Any]:
    """The OpenAPI 3.1 document of the service that the HTTP bridge speaks to."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "A memory for membench",
            "version": VERSION.rpartition("/")[2],
            "description": "Five calls. membench asks them of the address that it is given; redirects are refused, and "
            "answers of more than 16 MiB.",
        },
        "servers": [{"url": "http://127.0.0.1:8080"}],
        "paths": {f"/v1/{call}": {"post": _operation(call)} for call in CALLS},
        "components": {
            "schemas": _definitions("#/components/schemas/{model}"),
            "parameters": {
                "Contract": {
                    "name": "Membench-Contract",
                    "in": "header",
                    "required": True,
                    "description": "The version of the messages.",
                    "schema": {"const": VERSION},
                }
            },
            "responses": {
                "Later": {
                    "description": "Nothing was done: it is asked again, as Retry-After says, a few times.",
                    "headers": {"Retry-After": {"description": "Seconds, or a date.", "schema": {"type": "string"}}},
                    "content": _json("Failure"),
                },
                "Failed": {
                    "description": "The run ends with this text. 502 and 504 are asked again, save for open and write.",
                    "content": _json("Failure"),
                },
            },
        },
    }


def _definitions(template: str) -> dict[str, Any]:
    models: list[type[BaseModel]] = [*CALLS.values(), *ANSWERS.values(), Failure]
    _, schema = models_json_schema([(model, "validation") for model in models], ref_template=template)
    definitions: dict[str, Any] = schema["$defs"]
    return definitions


def _call_line(call: Call) -> dict[str, Any]:
    body = CALLS[call].model_json_schema(ref_template="#/$defs/{model}")
    envelope = {
        "membench": {"const": VERSION},
        "id": {"type": "integer", "description": "The answer carries it."},
        "call": {"const": call},
    }
    return {
        "description": body["description"],
        "type": "object",
        "properties": {**envelope, **body["properties"]},
        "required": [*envelope, *body["required"]],
        "additionalProperties": False,
    }


def _answer_line() -> dict[str, Any]:
    results = [{"$ref": f"#/$defs/{model.__name__}"} for model in dict.fromkeys(ANSWERS.values())]
    return {
        "description": "The result of the call of that id, or an error: a text, with which the run ends.",
        "type": "object",
        "properties": {"id": {"type": "integer"}, "result": {"anyOf": results}, "error": {"type": "string"}},
        "required": ["id"],
        "oneOf": [{"required": ["result"]}, {"required": ["error"]}],
        "additionalProperties": False,
    }


def _operation(call: Call) -> dict[str, Any]:
    question, answer = CALLS[call].__name__, ANSWERS[call].__name__
    return {
        "operationId": call,
        "summary": (CALLS[call].__doc__ or "").partition("\n")[0],
        "parameters": [{"$ref": "#/components/parameters/Contract"}],
        "requestBody": {"required": True, "content": _json(question)},
        "responses": {
            "200": {"description": (ANSWERS[call].__doc__ or "").partition("\n")[0], "content": _json(answer)},
            "429": {"$ref": "#/components/responses/Later"},
            "503": {"$ref": "#/components/responses/Later"},
            "default": {"$ref": "#/components/responses/Failed"},
        },
    }


def _json(model: str) -> dict[str, Any]:
    return {"application/json": {"schema": {"$ref": f"#/components/schemas/{model}"}}}
