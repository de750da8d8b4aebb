"""Integrations of a catalogue, whose format and soundness have been checked, as typed values."""

from collections.abc import Mapping
from decimal import Decimal
from typing import cast

from attrs import field, frozen

from orchestrator_domain.exact_json.pointer import Pointer
from orchestrator_domain.exact_json.schema import compile_schema
from orchestrator_domain.exact_json.value import JsonObject, JsonValue
from orchestrator_domain.flow.contract import Effect, ProbeContract, RetryContract
from orchestrator_worker.route import (
    Always,
    AnswerMeaning,
    AnswerSource,
    CallLimit,
    ConfirmingAnswer,
    ContractPart,
    Endpoint,
    FromAnswer,
    FromContract,
    FromInput,
    FromKey,
    NoEffectAnswer,
    NotFoundAnswer,
    ProbeRoute,
    RequestFields,
    RequestSource,
    ResultAnswer,
    RetryableAnswer,
    Route,
    Timeouts,
)

# What a contract means: whatever else an entry holds may change under the same version.
SEMANTIC_MEMBERS = (
    "integrationKey",
    "contractVersion",
    "effect",
    "keyMemorySeconds",
    "request",
    "inputSchema",
    "outputSchema",
    "answers",
    "providerReference",
)
SEMANTIC_PROBE_MEMBERS = ("request", "answers", "keyEcho", "providerReference")


@frozen(kw_only=True)
class Integration:
    """One version of one contract and its route. `profiles` holds the versions of each profile.

    `semantic_part` is what the contract's checksum covers: neither addresses and secrets nor timeouts and retries.
    """

    key: str
    contract_version: int
    effect: Effect
    key_memory_seconds: float | None
    input_schema: JsonObject
    output_schema: JsonObject
    profiles: Mapping[str, tuple[int, ...]] = field(factory=dict)
    retry: RetryContract
    probe: ProbeContract | None
    route: Route
    semantic_part: JsonObject


@frozen(kw_only=True)
class DocumentService:
    """Where documents' metadata is read; the endpoint, path and limits of the REGISTER_DOCUMENT action."""

    endpoint: Endpoint
    path: str
    timeouts: Timeouts
    retry: RetryContract
    answer_bytes_max: int
    limit: CallLimit | None = None


def integration_of(entry: JsonObject, endpoints: Mapping[str, Endpoint]) -> Integration:
    return Integration(
        key=str(entry["integrationKey"]),
        contract_version=whole(entry["contractVersion"]),
        effect=Effect(str(entry["effect"])),
        key_memory_seconds=_optional_seconds(entry.get("keyMemorySeconds")),
        input_schema=cast("JsonObject", entry["inputSchema"]),
        output_schema=cast("JsonObject", entry["outputSchema"]),
        profiles=_profiles_of(cast("list[JsonObject]", entry.get("profiles", []))),
        retry=_retry_of(entry),
        probe=_probe_of(entry),
        route=_route_of(entry, endpoints),
        semantic_part=_semantic_part(entry),
    )


def document_service_of(entry: JsonObject, endpoints: Mapping[str, Endpoint]) -> DocumentService:
    return DocumentService(
        endpoint=endpoints[str(entry["endpoint"])],
        path=str(entry.get("path", "/documents/{documentId}")),
        timeouts=timeouts_of(entry),
        retry=_retry_of(entry),
        answer_bytes_max=whole(entry.get("answerBytesMax", 262_144)),
        limit=_limit_of(entry, "documentService"),
    )


def _semantic_part(entry: JsonObject) -> JsonObject:
    meaning: JsonObject = {name: entry[name] for name in SEMANTIC_MEMBERS if name in entry}
    if "probe" in entry:
        # How long it is asked may change; what it takes for a confirmation may not.
        probe = cast("JsonObject", entry["probe"])
        meaning["probe"] = {name: probe[name] for name in SEMANTIC_PROBE_MEMBERS if name in probe}
    return meaning


def whole(number: JsonValue) -> int:
    """Return what the format says is an integer, however it is written (`3`, `3.0`)."""
    return int(cast("int | Decimal", number))


def seconds(number: JsonValue) -> float:
    return float(cast("int | Decimal", number))


def timeouts_of(entry: JsonObject) -> Timeouts:
    """Return the timeouts of an integration or of the document service, with the defaults of section 12.

    Defaults give way to a budget that is written and too small for them; what is written stays as it is.
    """
    written = {name: seconds(value) for name, value in cast("JsonObject", entry.get("timeouts", {})).items()}
    budget = written.get("budgetSeconds", 15.0)
    connect, answer = written.get("connectSeconds"), written.get("answerSeconds")
    connect_default, answer_default = _fitting_defaults(budget, connect, answer)
    return Timeouts(
        connect_seconds=connect_default if connect is None else connect,
        answer_seconds=answer_default if answer is None else answer,
        budget_seconds=budget,
        is_budget_written="budgetSeconds" in written,
    )


def _fitting_defaults(budget: float, connect: float | None, answer: float | None) -> tuple[float, float]:
    """Return the times to connect and to answer where they aren't written, within what the budget leaves."""
    if connect is None and answer is None:
        share = min(1.0, budget / 12.0)
        return 2.0 * share, 10.0 * share
    connect_left, answer_left = budget - (answer or 0.0), budget - (connect or 0.0)
    # Nothing left is a fault that is told where it was written.
    return (
        min(2.0, connect_left) if connect_left > 0 else 2.0,
        min(10.0, answer_left) if answer_left > 0 else 10.0,
    )


def _optional_seconds(number: JsonValue) -> float | None:
    return None if number is None else seconds(number)


def _retry_of(entry: JsonObject) -> RetryContract:
    written = cast("JsonObject", entry.get("retry", {}))
    return RetryContract(
        attempts_max=whole(written.get("attemptsMax", 3)),
        backoff_seconds=seconds(written.get("backoffSeconds", 2)),
        backoff_max_seconds=seconds(written.get("backoffMaxSeconds", 60)),
        retry_after_max_seconds=seconds(written.get("retryAfterMaxSeconds", 300)),
        parked_seconds_max=seconds(written.get("parkedMaxSeconds", 3600)),
    )


def _probe_of(entry: JsonObject) -> ProbeContract | None:
    if "probe" not in entry:
        return None
    written = cast("JsonObject", entry["probe"])
    return ProbeContract(
        ask_for_seconds=seconds(written.get("askForSeconds", 600)),
        backoff_seconds=seconds(written.get("backoffSeconds", 5)),
    )


def _profiles_of(entries: list[JsonObject]) -> dict[str, tuple[int, ...]]:
    profiles: dict[str, tuple[int, ...]] = {}
    for entry in entries:
        profile = str(entry["profile"])
        profiles[profile] = (*profiles.get(profile, ()), whole(entry["profileVersion"]))
    return profiles


def _route_of(entry: JsonObject, endpoints: Mapping[str, Endpoint]) -> Route:
    return Route(
        endpoint=endpoints[str(entry["endpoint"])],
        request=_request_of(cast("JsonObject", entry["request"])),
        answers=_answers_of(cast("dict[str, JsonObject]", entry.get("answers", {}))),
        output_schema=entry["outputSchema"],
        output=compile_schema(entry["outputSchema"]),
        provider_reference=_optional_pointer(entry.get("providerReference")),
        timeouts=timeouts_of(entry),
        answer_bytes_max=whole(entry.get("answerBytesMax", 262_144)),
        limit=_limit_of(entry, f"integration {entry['integrationKey']} {entry['contractVersion']}"),
        probe=_probe_route_of(entry),
    )


def _probe_route_of(entry: JsonObject) -> ProbeRoute | None:
    if "probe" not in entry:
        return None
    probe = cast("JsonObject", entry["probe"])
    answers = cast("dict[str, JsonObject]", probe["answers"])
    return ProbeRoute(
        request=_request_of(cast("JsonObject", probe["request"])),
        answers={int(status): _probe_meaning_of(answer) for status, answer in answers.items()},
        key_echo=_optional_pointer(probe.get("keyEcho")),
        provider_reference=_optional_pointer(probe.get("providerReference")),
    )


def _probe_meaning_of(answer: JsonObject) -> ConfirmingAnswer | NotFoundAnswer:
    if answer["kind"] == "notFound":
        return NotFoundAnswer()
    return ConfirmingAnswer(fields=_answer_sources(cast("dict[str, JsonObject]", answer["fields"])))


def _optional_pointer(written: JsonValue) -> Pointer | None:
    return None if written is None else Pointer.parse(str(written))


def _limit_of(entry: JsonObject, name: str) -> CallLimit | None:
    return CallLimit(name=name, calls_max=whole(entry["callsMax"])) if "callsMax" in entry else None


def _request_of(request: JsonObject) -> RequestFields:
    return RequestFields(
        method=str(request["method"]),
        path=str(request["path"]),
        path_fields=_request_sources(request.get("pathFields", {})),
        query_fields=_request_sources(request.get("queryFields", {})),
        body_fields=_request_sources(request["bodyFields"]) if "bodyFields" in request else None,
    )


def _request_sources(fields: JsonValue) -> dict[str, RequestSource]:
    return {name: _request_source(source) for name, source in cast("dict[str, JsonObject]", fields).items()}


def _request_source(source: JsonObject) -> RequestSource:
    if "input" in source:
        return FromInput(name=str(source["input"]))
    if "call" in source:
        return FromKey()
    if "contract" in source:
        return FromContract(part=ContractPart(str(source["contract"])))
    return Always(value=source["literal"])


def _answers_of(answers: Mapping[str, JsonObject]) -> dict[int, AnswerMeaning]:
    return {int(status): _meaning_of(answer) for status, answer in answers.items()}


def _meaning_of(answer: JsonObject) -> AnswerMeaning:
    match answer["kind"]:
        case "noEffect":
            return NoEffectAnswer()
        case "retryable":
            return RetryableAnswer(proves_no_effect=answer.get("provesNoEffect") is True)
        case _:
            fields = cast("dict[str, JsonObject] | None", answer.get("fields"))
            return ResultAnswer(fields=None if fields is None else _answer_sources(fields))


def _answer_sources(fields: Mapping[str, JsonObject]) -> dict[str, AnswerSource]:
    return {name: _answer_source(source) for name, source in fields.items()}


def _answer_source(source: JsonObject) -> AnswerSource:
    if "answer" in source:
        return FromAnswer(pointer=Pointer.parse(str(source["answer"])))
    return Always(value=source["literal"])
