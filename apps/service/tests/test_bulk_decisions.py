"""Tables are decided as each of their rows alone."""

from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.parquet as pq  # type: ignore[import-untyped]
import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from orchestrator_domain.decision.condition import Comparator, Comparison, LiteralOperand, PathOperand
from orchestrator_domain.decision.definition import DecisionDefinition, HitPolicy, Rule
from orchestrator_domain.decision.evaluator import CompiledDecisionEvaluator
from orchestrator_domain.decision.outcome import DecisionResult
from orchestrator_domain.exact_json.pointer import Pointer
from orchestrator_domain.exact_json.text import parse_json
from orchestrator_domain.exact_json.value import InexactJson
from orchestrator_domain.flow.document import read_flow
from orchestrator_domain.identifiers import RuleKey
from orchestrator_domain.testing.decision_strategies import decisions
from orchestrator_service.authoring.case_columns import CaseColumns, UnusableColumns
from orchestrator_service.bulk_decisions import TableDecision
from orchestrator_service.exact_arrow import InexactColumn, exact_cells, python_cells

FLOW = Path(__file__).parents[3] / "contracts" / "corpus" / "valid" / "scoring-minimo.json"
SCORING = read_flow(parse_json(FLOW.read_bytes())).decisions[0]
KINDS = {
    "a": (pa.string(), st.sampled_from(["", "1", "é"])),
    "b/0": (pa.decimal128(38, 18), st.sampled_from([Decimal("0.3"), Decimal(1), Decimal(70)])),
    "b/a": (pa.int64(), st.sampled_from([0, 1, 2**53 + 1])),
    "b/b/1": (pa.bool_(), st.booleans()),
    "0": (
        pa.struct([("a", pa.int8()), ("b", pa.list_(pa.int8()))]),
        st.fixed_dictionaries({"a": st.none() | st.integers(0, 1), "b": st.none() | st.just([1, None])}),
    ),
    "1": (pa.null(), st.none()),
}


@st.composite
def tables(draw: st.DrawFn) -> Any:
    """Draw tables of a few rows whose columns are some of KINDS, nulls among their cells."""
    names = draw(st.lists(st.sampled_from(list(KINDS)), unique=True))
    rows = draw(st.integers(0, 6))
    columns = [
        pa.array(draw(st.lists(st.none() | KINDS[name][1], min_size=rows, max_size=rows)), KINDS[name][0])
        for name in names
    ]
    return pa.record_batch(columns, names=names)


def alone(definition: DecisionDefinition, table: Any) -> list[DecisionResult]:
    """Decide each row by the evaluator, over the context that its cells spell."""
    evaluator, columns = CompiledDecisionEvaluator(), CaseColumns.of_names(table.schema.names)
    cells = [
        map(exact_cells(kind, "x"), column.to_pylist())
        for kind, column in zip(table.schema.types, table.columns, strict=True)
    ]
    rows = zip(*cells, strict=True) if cells else ()
    return [evaluator.evaluate(definition, columns.document_of_values(row)) for row in rows]


@given(decisions(), tables())
def test_batches_are_decided_as_each_row_alone(definition: DecisionDefinition, table: Any) -> None:
    assert list(TableDecision(definition=definition).over_batches([table, table])) == 2 * alone(
        definition, table
    )


def test_tables_with_fewer_combinations_than_rows_are_decided_as_each_row_alone() -> None:
    rows = [{"a": number % 3, "b": None if number % 5 else number % 2 == 0} for number in range(200)]
    table = pa.RecordBatch.from_pylist(rows, schema=pa.schema([("a", pa.int8()), ("b", pa.bool_())]))
    conditions = [
        Comparison(
            operator=Comparator.EQ,
            left=PathOperand(pointer=Pointer.parse(path)),
            right=LiteralOperand(value=value),
        )
        for path, value in (("/a", 1), ("/b", True))
    ]
    rules = tuple(
        Rule(id=RuleKey(f"rule-{number}"), when=when, output=f"OUT-{number}")
        for number, when in enumerate(conditions)
    )
    definition = evolve(SCORING, rules=rules, hit_policy=HitPolicy.FIRST)
    for part in (table, table.slice(3, 150), table.slice(0, 4)):
        assert list(TableDecision(definition=definition).over_batches([part])) == alone(definition, part)


@given(
    st.sampled_from(
        [pa.decimal128(38, 18), pa.decimal128(9, 2), pa.decimal256(76, 40), pa.decimal128(5, -2)]
    ),
    st.lists(st.integers(-99_999, 99_999), max_size=5),
    st.integers(0, 2),
)
def test_decimals_are_read_with_their_digits(kind: Any, coefficients: list[int], offset: int) -> None:
    cells = [Decimal(each).scaleb(-kind.scale) for each in coefficients]
    column = pa.array(cells, kind)[offset:]
    assert list(map(repr, python_cells(column))) == list(map(repr, column.to_pylist()))


@pytest.mark.parametrize(
    "kind", [pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint64(), pa.bool_()]
)
@pytest.mark.parametrize("cells", [[], [1], [0, 1, 1, 0], [1, None, 0]])
def test_other_cells_are_read_as_they_are(kind: Any, cells: list[int | None]) -> None:
    column = pa.array([1, *cells]).cast(kind)
    for part in (column, column[1:]):
        assert list(map(repr, python_cells(part))) == list(map(repr, part.to_pylist()))


@pytest.fixture
def scores(tmp_path: Path) -> Path:
    """A Parquet file in three row groups, with a null and a column that isn't read and couldn't be."""
    values = [None if number == 5 else Decimal(number * 7 % 101).scaleb(-1) * 10 for number in range(250)]
    columns = [pa.array(values, pa.decimal128(9, 2)), pa.array([0.5] * 250)]
    file = tmp_path / "scores.parquet"
    pq.write_table(pa.table(columns, names=["results/buro/score", "weight"]), file, row_group_size=100)
    return file


@pytest.mark.parametrize("processes", [1, 2])
def test_a_parquet_file_is_decided_in_order_on_any_number_of_processes(scores: Path, processes: int) -> None:
    results = list(TableDecision(definition=SCORING).over_parquet(scores, processes=processes))

    assert results == alone(
        SCORING, pq.read_table(scores, columns=["results/buro/score"]).combine_chunks().to_batches()[0]
    )


def test_equal_values_of_other_types_decide_alike() -> None:
    coded = pa.array(["N", "N", None]).dictionary_encode()
    numbers = pa.record_batch([pa.array([71, 61, 0]), coded], names=["results/buro/score", "other"])

    outputs = [
        getattr(result, "output", None)
        for result in TableDecision(definition=SCORING).over_batches([numbers])
    ]
    assert outputs == ["N", "M", "MANUAL"]


def test_columns_that_are_read_have_to_be_exact_unless_shortest_floats_are_wanted() -> None:
    table = pa.record_batch([pa.array([70.1])], names=["results/buro/score"])

    with pytest.raises(InexactColumn):
        list(TableDecision(definition=SCORING).over_batches([table]))
    (result,) = TableDecision(definition=SCORING, shortest_floats=True).over_batches([table])
    assert getattr(result, "output", None) == "N"


def test_names_that_are_no_places_and_values_beyond_the_limits_are_refused() -> None:
    unusable = pa.record_batch([pa.array([1])], names=["results//score"])
    beyond = pa.record_batch([pa.array(["a\0"])], names=["results/buro/score"])

    with pytest.raises(UnusableColumns):
        list(TableDecision(definition=SCORING).over_batches([unusable]))
    with pytest.raises(InexactJson):
        list(TableDecision(definition=SCORING).over_batches([beyond]))


@pytest.mark.parametrize("kind", [pa.decimal32(5, 2), pa.decimal64(5, 2), pa.decimal256(50, 2)])
def test_decimals_of_any_width_are_decided(kind: Any) -> None:
    table = pa.record_batch(
        [pa.array([Decimal("70.01"), None, Decimal("60.00")], kind)], names=["results/buro/score"]
    )
    assert list(TableDecision(definition=SCORING).over_batches([table])) == alone(SCORING, table)


@pytest.mark.parametrize("read", ["results", "results/buro"])
def test_objects_with_two_members_of_one_name_are_refused(read: str) -> None:
    twice = pa.StructArray.from_arrays([pa.array([71]), pa.array([1])], names=["score", "score"])
    inner = pa.StructArray.from_arrays([twice], names=["buro"]) if read == "results" else twice
    table = pa.record_batch([inner], names=[read])
    with pytest.raises(InexactColumn, match="results/buro"):
        list(TableDecision(definition=SCORING).over_batches([table]))
    with pytest.raises(InexactColumn, match="two members"):
        exact_cells(inner.type, "x")
