"""What a reader is told beside the figures."""

from membench.corpora.corpus import Reading
from membench.corpora.selection import Slice
from membench.render.measurement import measurement_markdown
from membench.render.notices import notices
from membench.ruler.observer import Silent
from membench.runs.request import Request
from membench.runs.retrieval import run_retrieval

PART = Reading(part=Slice(instances=1))


def measured(folder, **asked):
    request = Request(corpus="sample", reading=PART, **asked)
    (outcome,) = run_retrieval(request, root=folder, report_dir=folder, command=[], observer_for=lambda *_: Silent())
    return outcome.measurement


def test_where_everything_stands_and_is_found_there_is_nothing_to_say(tmp_path):
    assert list(notices(measured(tmp_path, memory="bm25"))) == []


def test_what_is_refused_is_told_with_its_reason_and_the_gold_in_it(tmp_path):
    measurement = measured(tmp_path, toy=True, memory_options={"max_chars": "150"})
    counted = measurement.accounting
    (told, gold) = notices(measurement)
    assert told.startswith(f"{counted.written - counted.displaced} of {counted.attempted} units stand in the store (")
    assert f"{counted.refused['over 150 characters']} refused, over 150 characters" in told
    wanting = [
        query.id for query in measurement.queries if {lost.turn for lost in counted.gold_lost} & set(query.gold_turns)
    ]
    assert counted.queries_missing_gold == len(wanting) > 0
    assert f"{len(wanting)} scored quer" in gold
    assert told.split(" (")[0] in measurement_markdown(measurement)


def test_a_memory_that_stores_nothing_is_not_clean(tmp_path):
    measurement = measured(tmp_path, toy=True, memory_options={"min_chars": "5000", "max_chars": "none"})
    assert "stored nothing" in measurement.reasons[-1]
    assert measurement.accounting.empty_searches == measurement.counts.scored
    assert any("without a hit" in told for told in notices(measurement))
