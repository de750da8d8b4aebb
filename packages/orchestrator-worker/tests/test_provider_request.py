"""A request is put together field by field, and no value leaves its place."""

from decimal import Decimal
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st
from tests.plugins.lending_catalogue import (
    LOOKUP,
    attempt_at,
    catalogue_file,
    contract_of,
    deployed,
    lookup_integration,
)

from orchestrator_domain.exact_json.value import JsonValue
from orchestrator_domain.flow.contract import ActionContract
from orchestrator_worker.provider_request import UnsendableInput, body_of, headers_of, target_of
from orchestrator_worker.route import (
    Always,
    ContractPart,
    FromContract,
    FromInput,
    RequestFields,
    RequestSource,
)

CONTRACT = contract_of(deployed(catalogue_file(lookup_integration())), LOOKUP)
BY_PATH = RequestFields(
    method="GET", path="/items/{item}/state", path_fields={"item": FromInput(name="item")}
)


def with_query(**fields: RequestSource) -> RequestFields:
    return RequestFields(method="GET", path="/items", query_fields=fields)


@pytest.mark.parametrize(
    ("value", "segment"),
    [
        ("ladder", "ladder"),
        ("a-b.c_d~e", "a-b.c_d~e"),
        ("a/b", "a%2Fb"),
        ("../admin", "..%2Fadmin"),
        ("a?x=1#y", "a%3Fx%3D1%23y"),
        ("a;b=c&d+e", "a%3Bb%3Dc%26d%2Be"),
        ("%2e%2e", "%252e%252e"),
        ("@evil\\", "%40evil%5C"),
        ("...", "..."),
        ("niño", "ni%C3%B1o"),
        (" ", "%20"),
        (12, "12"),
        (Decimal("1.10"), "1.10"),
        (True, "true"),
    ],
)
def test_a_path_value_is_encoded_into_its_segment(value: JsonValue, segment: str) -> None:
    assert target_of(BY_PATH, attempt_at(CONTRACT, item=value)) == f"/items/{segment}/state"


@pytest.mark.parametrize("value", ["", ".", "..", "a\r\nX: 1", "a\x00", "a\x7f", None, [], {"a": 1}])
def test_what_can_be_no_segment_is_refused_by_the_name_of_its_field(value: JsonValue) -> None:
    with pytest.raises(UnsendableInput) as refusal:
        target_of(BY_PATH, attempt_at(CONTRACT, item=value))
    assert refusal.value.field_name == "item"


def test_an_absent_path_input_is_refused() -> None:
    with pytest.raises(UnsendableInput):
        target_of(BY_PATH, attempt_at(CONTRACT))


@given(st.text(min_size=1))
def test_any_text_stays_one_segment_or_is_refused(text: str) -> None:
    try:
        target = target_of(BY_PATH, attempt_at(CONTRACT, item=text))
    except UnsendableInput:
        return
    parts = urlsplit("http://host" + target)
    assert (parts.query, parts.fragment, parts.path.count("/")) == ("", "", 3)
    assert unquote(parts.path.split("/")[2]) == text


# Inputs are exact JSON by then, so a lone surrogate has been refused long before.
_TEXTS = st.text(alphabet=st.characters(min_codepoint=32, codec="utf-8"))


@given(st.dictionaries(st.sampled_from(["a", "b", "c"]), _TEXTS))
def test_query_fields_come_out_as_they_went_in(values: dict[str, str]) -> None:
    fields = with_query(**{name: FromInput(name=name) for name in values})
    sendable = {name: value for name, value in values.items() if "\x7f" not in value}
    inputs: dict[str, JsonValue] = dict(sendable)
    target = target_of(fields, attempt_at(CONTRACT, **inputs))
    assert dict(parse_qsl(urlsplit(target).query, keep_blank_values=True)) == sendable


def test_a_query_field_without_its_input_is_left_out() -> None:
    fields = with_query(item=FromInput(name="item"), kind=Always(value="tool"))
    assert target_of(fields, attempt_at(CONTRACT)) == "/items?kind=tool"


def test_a_body_holds_inputs_literals_and_the_pinned_profile_exactly() -> None:
    fields = RequestFields(
        method="POST",
        path="/items",
        body_fields={
            "deposit": FromInput(name="deposit"),
            "tags": FromInput(name="tags"),
            "absent": FromInput(name="absent"),
            "kind": Always(value=None),
            "profile": FromContract(part=ContractPart.PROFILE),
            "version": FromContract(part=ContractPart.PROFILE_VERSION),
        },
    )
    inputs: dict[str, JsonValue] = {"deposit": Decimal("12.50"), "tags": ["a", {"b": 1}]}
    contract = with_profile("TOOLS", 3)
    body = body_of(fields, attempt_at(contract, **inputs))
    assert body == b'{"deposit":12.50,"tags":["a",{"b":1}],"kind":null,"profile":"TOOLS","version":3}'


def with_profile(profile: str, version: int) -> ActionContract:
    return evolve(CONTRACT, profile=profile, profile_version=version)


def test_a_request_without_body_fields_has_no_body() -> None:
    assert body_of(BY_PATH, attempt_at(CONTRACT, item="ladder")) is None


def test_headers_carry_the_stable_key_the_token_and_the_correlation() -> None:
    assert headers_of(attempt_at(CONTRACT)) == {
        "Idempotency-Key": "00000000-0000-0000-0000-0000000000e1:lookup",
        "X-Fencing-Token": "7",
        "X-Correlation-Id": "trace-1",
    }


@pytest.mark.parametrize("correlation", [None, "a\r\nX: 1", "ñ"])
def test_a_correlation_that_cannot_stand_in_a_header_is_left_out(correlation: Any) -> None:
    headers = headers_of(evolve(attempt_at(CONTRACT), correlation_id=correlation))
    assert "X-Correlation-Id" not in headers
