"""The published contract: it describes what is said, both ways."""

import json
from datetime import datetime
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from openapi_schema_validator import OAS31Validator

from membench.memories.bridges.answers import ANSWERS
from membench.memories.bridges.messages import VERSION
from membench.memories.bridges.remote import RemoteMemory
from membench.memories.bridges.schema import CALLS, http_openapi, memory_schema
from membench.memories.bridges.service import service_memory
from membench.memories.protocol import Unit

SCHEMAS = Path(__file__).parents[3] / "schemas"
ROUNDS = {
    "describe": {"name": "own", "version": "1", "settings": {"a": None, "b": True, "c": 1.5, "d": "x", "e": 2}},
    "open": {},
    "write": {"receipts": ["stored", {"status": "refused", "reason": "blank", "displaced": ["u9"]}]},
    "search": {"hits": [{"unit": "u1", "score": 1}, {"text": "as written", "score": 0.5}]},
    "close": {},
}


@pytest.fixture(scope="module")
def line():
    schema = memory_schema()
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def use(memory):
    memory.describe()
    store = memory.open("p1")
    store.write([Unit("u1", "s1", "text", datetime(2024, 3, 5, 18, 30, 0, 250)), Unit("u2", "s1", "", None)])
    store.search("which?", 3, datetime(2024, 3, 5))
    store.close()


def test_every_line_is_of_the_schema(line, command, tmp_path):
    from membench.memories.spec import open_memory

    spec = command(
        f"""
        with open({str(tmp_path / "seen")!r}, "w", buffering=1) as seen:
            while True:
                asked = call()
                answer = {{"id": asked["id"], "result": {ROUNDS!r}[asked["call"]]}}
                seen.write(json.dumps(asked) + "\\n" + json.dumps(answer) + "\\n")
                say(**answer)
        """
    )
    with open_memory(spec, {"k": "3"}, None) as memory:
        use(memory)
    said = [json.loads(text) for text in (tmp_path / "seen").read_text().splitlines()]
    assert [one["call"] for one in said[::2]] == list(CALLS)
    for one in said:
        line.validate(one)


@pytest.mark.parametrize(
    "wrong",
    [
        {"id": 1},
        {"id": 1, "result": {}, "error": "x"},
        {"id": "1", "result": {}},
        {"id": 1, "result": {"hits": [{"score": 1}]}},
        {"id": 1, "result": {"hits": [{"unit": "u", "score": "1"}]}},
        {"id": 1, "result": {"receipts": ["kept"]}},
        {"id": 1, "result": {"name": "own", "version": "1", "concurrency": 65}},
        {"id": 1, "result": {"name": "own", "version": "1", "ephemral": True}},
        {"membench": "membench.memory/2", "id": 1, "call": "close", "pool": "p1"},
        {"membench": VERSION, "id": 1, "call": "shut", "pool": "p1"},
        {"membench": VERSION, "id": 1, "call": "search", "pool": "p", "query": "", "limit": 1, "as_of": "2024-03-05"},
    ],
)
def test_what_is_no_line_is_none_of_the_schema(line, wrong):
    assert not line.is_valid(wrong)


def test_every_http_body_is_of_the_openapi_document(service):
    document = http_openapi()
    components = document["components"]["schemas"]

    def schema(reference):
        return {"$ref": reference, "components": {"schemas": components}}

    for call, told in ROUNDS.items():
        service.on(call, service.answer(told))
    with service_memory(service.address, {"k": "3"}, 10.0) as memory:
        assert isinstance(memory, RemoteMemory)
        use(memory)
    for path, body in zip(service.asked, service.bodies, strict=True):
        operation = document["paths"][path]["post"]
        call = operation["operationId"]
        asked = operation["requestBody"]["content"]["application/json"]["schema"]["$ref"]
        answered = operation["responses"]["200"]["content"]["application/json"]["schema"]["$ref"]
        OAS31Validator(schema(asked)).validate(body)
        OAS31Validator(schema(answered)).validate(ROUNDS[call])
    assert list(document["paths"]) == service.asked


def test_the_examples_of_the_messages_are_of_them():
    for model in {*CALLS.values(), *ANSWERS.values()}:
        schema = model.model_json_schema()
        for example in schema["examples"]:
            Draft202012Validator(schema).validate(example)
            model.model_validate_json(json.dumps(example))


@pytest.mark.parametrize(("name", "document"), [("memory", memory_schema), ("memory-http", http_openapi)])
def test_it_is_the_published_one(name, document):
    assert json.loads((SCHEMAS / f"{name}.json").read_text(encoding="utf-8")) == document()
