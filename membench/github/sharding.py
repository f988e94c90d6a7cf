"""What is said of a run that measures one shard: there is nothing to compare yet."""

from collections.abc import Iterator, Sequence

from membench.corpora.shards import Shard
from membench.render.markdown import escaped
from membench.runs.retrieval import ShardOutcome


def sentences_of(shard: Shard, outcomes: Sequence[ShardOutcome]) -> Iterator[str]:
    """What was measured of each arm, and what is to come."""
    for outcome in outcomes:
        report = outcome.shard
        queries = sum(len(part.findings.queries) for part in report.body.parts)
        resumed = f", {report.run.resumed:,} of them by a run that did not end" if report.run.resumed else ""
        yield (
            f"{report.body.head.corpus.key}.{report.body.head.arm.name}: {len(report.body.parts):,} of "
            f"{report.body.head.corpus.instances:,} instances{resumed}, {queries:,} queries scored, "
            f"{report.run.seconds.run:.1f} s."
        )
    yield (
        f"This is shard {shard.number} of {shard.of}, and no measurement yet: nothing is compared and nothing is "
        f"proposed. The job whose input measurements is a folder with all {shard.of} merges them, compares and "
        "proposes."
    )


def shard_markdown(shard: Shard, sentences: Sequence[str], whole: str) -> str:
    """The step summary, a paragraph for each of ``sentences``.

    ``whole`` is one sentence that says where the files are: Markdown, as it stands.
    """
    title = f"# membench: shard {shard.number} of {shard.of}"
    return "\n\n".join([title, *map(escaped, sentences), whole]) + "\n"
