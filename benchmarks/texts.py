"""What the benchmarks measure on: LoCoMo where it has been fetched, else the sample, whose figures bound nothing."""

from membench.corpora.catalog import CORPORA
from membench.corpora.corpus import Corpus, Reading, open_corpus
from membench.corpora.rendering import turn_text
from membench.corpora.store import is_stored
from membench.files.paths import cache_root


def corpus_or_sample() -> Corpus:
    """LoCoMo or the sample, opened."""
    root = cache_root()
    key = "locomo10" if is_stored(CORPORA["locomo10"], root) else "sample"
    return open_corpus(key, root, Reading())


def turn_texts(corpus: Corpus) -> list[str]:
    """The text of every turn, stripped, as a memory embeds it."""
    return [
        turn_text(turn, corpus.text).strip()
        for instance in corpus.instances()
        for session in instance.sessions
        for turn in session.turns
    ]


def distinct_texts(corpus: Corpus) -> list[str]:
    """Every turn and every scored question once."""
    questions = [query.text for instance in corpus.instances() for query in instance.queries if query.scorable]
    return list(dict.fromkeys([*turn_texts(corpus), *questions]))
