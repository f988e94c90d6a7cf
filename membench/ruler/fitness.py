"""What a corpus must have for an arm to say anything of a memory."""

from collections.abc import Sequence

from membench.corpora.corpus import Corpus
from membench.errors import CorpusError, InstrumentError, UsageError
from membench.memories.protocol import Description
from membench.ruler.arm import Arm


def refuse_unfit(corpus: Corpus, arms: Sequence[Arm], memories: Sequence[Description]) -> None:
    """Raises CorpusError for a corpus that cannot tell one memory from another, InstrumentError for a memory without
    the embedder that it wants, UsageError for a timeline that the corpus has no dates for.
    """
    for arm, memory in zip(arms, memories, strict=True):
        if corpus.evidence_only and arm.pool == "own":
            raise CorpusError(
                f"{corpus.key} cannot measure retrieval in own pools: every session of every haystack is gold, so that "
                "there is nothing to tell it from",
                "Measure all of its sessions as one pool with --pool shared, or use a corpus with distractors: "
                "longmemeval_s instead of longmemeval_oracle.",
            )
        if memory.backend == "keyword":
            raise InstrumentError(
                f"the memory {memory.name} has no embedder and would match keywords: expected a semantic search",
                "Give it a model: membench fetch all-minilm-l6-v2.",
            )
        if arm.timeline != "now" and corpus.survey.quirks.undated_sessions == corpus.survey.sessions:
            raise UsageError(
                f"--timeline {arm.timeline} needs dates; no session of {corpus.key} has one that can be read.",
                "Use --timeline now, or mend the dates: the README says how each format writes them.",
            )
        if arm.timeline == "literal" and arm.as_of is None:
            raise UsageError(
                "--timeline literal needs a date to search at.", "Add --as-of, such as --as-of 2024-01-31."
            )
    if any(arm.timeline == "asked" for arm in arms):
        _refuse_unasked(corpus)


def _refuse_unasked(corpus: Corpus) -> None:
    for instance in corpus.instances():
        for query in instance.queries:
            if query.scorable and query.asked is None:
                raise UsageError(
                    f"--timeline asked needs the date of every question; {corpus.key} has none that can be read for "
                    f"query {query.id}.",
                    "Use --timeline now, anchored or literal, or mend the date: the README says how to write it.",
                )
