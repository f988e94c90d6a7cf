"""What a SPEC names."""

import sys

import pytest

from membench.embedding.toy import ToyEmbedder
from membench.errors import UsageError
from membench.memories.spec import is_python, open_memory, parse_spec, wants_embedder


@pytest.mark.parametrize(
    ("spec", "kind"),
    [
        ("episodic", "built-in"),
        ("bm25", "built-in"),
        ("package.module:factory", "python"),
        ("module:Class.make", "python"),
        ("./my_memory.py:Memory", "python"),
        ("/a b/my-memory.py:Memory", "python"),
        ("cmd:node memory.mjs", "command"),
        ("http://localhost:8080", "http"),
        ("https://memory.example/prefix/", "http"),
        ("http://[::1]:8080", "http"),
    ],
)
def test_each_kind_by_its_looks(spec, kind):
    assert parse_spec(spec).kind == kind
    assert is_python(spec) == (kind == "python")


def test_a_command_is_split_as_a_shell_does():
    assert parse_spec("cmd:node 'my memory.mjs' --k=3").command == ("node", "my memory.mjs", "--k=3")


@pytest.mark.parametrize(
    ("spec", "hint"),
    [
        ("episodik", "Did you mean episodic?"),
        ("BM25", ""),
        ("", ""),
        ("my_memory.py", "The name of its factory is missing: my_memory.py:Memory"),
        ("my_memory.py:", "The name of its factory is missing: my_memory.py:Memory"),
        ("localhost:8080", "Did you mean http://localhost:8080?"),
        ("127.0.0.1:8080/memory", "Did you mean http://127.0.0.1:8080/memory?"),
        ("htp://localhost:8080", "Did you mean http://localhost:8080?"),
        ("cnd:node memory.mjs", "Did you mean cmd:node memory.mjs?"),
        ("command:node memory.mjs", "Did you mean cmd:node memory.mjs?"),
        ("memory.mjs", ""),
        ("package.module:", ""),
        (":factory", ""),
        ("my memory:factory", ""),
    ],
)
def test_what_is_nothing_known_is_told_with_what_is_near(spec, hint):
    for ask in (parse_spec, wants_embedder, is_python):
        with pytest.raises(UsageError) as caught:
            ask(spec)
        assert str(caught.value).startswith(f"There is no memory {spec!r}.{' ' + hint if hint else ''}")
        assert "episodic, bm25; package.module:factory or file.py:factory; cmd:COMMAND" in str(caught.value)


@pytest.mark.parametrize(
    "spec", ["http://", "http://:80", "http://h:99999", "http://h:x", "http://h/?a=1", "http://h/#a"]
)
def test_an_address_that_is_none_is_told(spec):
    with pytest.raises(UsageError, match=r"is no address: expected a host"):
        parse_spec(spec)


def test_a_password_is_never_shown():
    assert parse_spec("https://me:secret@memory.example/a").shown == "https://memory.example/a"
    with pytest.raises(UsageError) as caught:
        parse_spec("https://me:secret@memory.example/?a=1")
    assert "secret" not in str(caught.value)


def test_the_built_in_ones_open_as_they_are():
    with open_memory("bm25", {"k1": "2"}, None) as memory:
        assert memory.describe().settings["k1"] == 2
        assert not memory.describe().own
    with open_memory("episodic", {}, ToyEmbedder()) as memory:
        assert memory.describe().name == "episodic"
    assert wants_embedder("episodic")
    assert not wants_embedder("bm25")
    assert wants_embedder("episodic", sys.executable)


@pytest.mark.parametrize("spec", ["cmd:node memory.mjs", "http://localhost:8080"])
def test_what_is_not_python_is_given_no_embedder(spec):
    assert not wants_embedder(spec)


@pytest.mark.parametrize("spec", ["bm25", "cmd:node memory.mjs", "http://localhost:8080"])
def test_an_interpreter_is_for_python(spec):
    with (
        pytest.raises(UsageError, match="--memory-python is for a memory in Python"),
        open_memory(spec, {}, None, python=sys.executable),
    ):
        pass


@pytest.mark.parametrize("timeout", [0.0, -1.0, float("nan")])
def test_a_call_needs_time(timeout):
    with pytest.raises(UsageError, match="Allow more than 0 seconds"), open_memory("bm25", {}, None, timeout=timeout):
        pass
