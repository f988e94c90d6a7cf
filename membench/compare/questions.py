"""The texts of a measurement's queries, where its corpus is at hand."""

from pathlib import Path

from membench.corpora.catalog import CORPORA, Format
from membench.corpora.corpus import Reading, open_corpus
from membench.corpora.selection import Slice
from membench.corpora.store import is_stored
from membench.errors import MembenchError
from membench.reports.measurement import Measurement


def questions_at_hand(
    measurement: Measurement, root: Path, own: str | None = None, file_format: Format | None = None
) -> dict[str, str]:
    """Question by query id; empty where the corpus is not in the cache folder ``root``, or is not the one measured.

    ``own`` is the path of a corpus that is not of the catalog, ``file_format`` how it is written.
    """
    key = measurement.corpus.key
    if file_format is None and (key not in CORPORA or not is_stored(CORPORA[key], root)):
        return {}
    part = Slice(measurement.corpus.slice.instances, measurement.corpus.slice.queries)
    arm = measurement.arm
    reading = Reading(measurement.corpus.gold, arm.roles, arm.captions, arm.speakers, part)
    try:
        corpus = open_corpus(own or key, root, reading, file_format)
        if corpus.survey.fingerprint != measurement.corpus.fingerprint:
            return {}
        return {query.id: query.text for instance in corpus.instances() for query in instance.queries}
    except MembenchError:
        # A text is a help to the reader: a comparison is as true without it.
        return {}
