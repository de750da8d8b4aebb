"""Answer as the providers do when nobody has scripted anything."""

import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from types import MappingProxyType
from typing import Any

from attrs import define, evolve, field, frozen

from orchestrator_domain.exact_json.text import MalformedJson
from orchestrator_domain.exact_json.value import JsonObject, JsonValue
from orchestrator_sandbox.checked_document import DocumentRefused, checked_document, document_schema
from orchestrator_sandbox.providers.wire import Answer, Received, json_answer

KNOWN_SCORES: Mapping[str, int | Decimal] = MappingProxyType(
    {"CLI-71": 71, "CLI-70": 70, "CLI-61": 61, "CLI-60": 60, "CLI-456": 75}
)


@define
class ProviderData:
    """What the providers know."""

    clients: dict[str, JsonObject] = field(
        factory=lambda: {client: {"customerId": _customer_of(client)} for client in KNOWN_SCORES}
    )
    # The bureau knows a person by the register's id as well as by the client's key.
    scores: dict[str, int | Decimal] = field(
        factory=lambda: {
            **KNOWN_SCORES,
            **{_customer_of(client): score for client, score in KNOWN_SCORES.items()},
        }
    )
    invalid_documents: dict[str, list[JsonValue]] = field(factory=dict)
    documents: dict[str, JsonObject] = field(factory=dict)


def _customer_of(client: str) -> str:
    return client.replace("CLI", "CUS")


@frozen(kw_only=True)
class Performed:
    """An answer, and whether the call that it belongs to changed something."""

    answer: Answer
    effect_applied: bool = False


@frozen(kw_only=True)
class _Route:
    method: str
    template: str
    perform: Callable[[Received, str], Performed]

    def parameter(self, method: str, path: str) -> str | None:
        """Return the value of the template's parameter, None when the path is another one."""
        pattern = re.sub(r"\{\w+\}", "([^/]+)", self.template)
        found = re.fullmatch(pattern, path) if method == self.method else None
        return None if found is None else (found.group(1) if found.groups() else "")


class ProviderDoubles:
    """The providers: client register, document validation, bureau, document service, payments, records."""

    def __init__(self) -> None:
        self.data = ProviderData()
        self._remembered: dict[tuple[str, str], tuple[bytes, Answer]] = {}
        self._effects = 0
        self._routes = (
            _Route(method="GET", template="/clientes/{clienteId}", perform=self._client),
            _Route(method="POST", template="/documentos/validaciones", perform=self._validation),
            _Route(method="POST", template="/buro/consultas", perform=self._bureau),
            _Route(method="GET", template="/documents/{documentId}", perform=self._document),
            _Route(method="POST", template=_PAYMENTS, perform=self._payment),
            _Route(method="GET", template="/pagos/autorizaciones/{clave}", perform=self._ledger),
            _Route(method="POST", template="/registros", perform=self._record),
        )

    def template_of(self, request: Received) -> str:
        """Return the template of the route that takes a request, its path when there is none."""
        for route in self._routes:
            if route.parameter(request.method, request.path) is not None:
                return route.template
        return request.path

    def perform(self, request: Received) -> Performed:
        """Do what the provider does and return its answer; 404 for a path that no provider has."""
        for route in self._routes:
            parameter = route.parameter(request.method, request.path)
            if parameter is not None:
                return _refusing(route, request, parameter)
        return Performed(answer=json_answer(404, {"error": "NO_SUCH_PATH"}))

    def remember(self, request: Received, answer: Answer) -> None:
        """Keep what a call with effect was answered, for the providers that repeat it to the same key."""
        key = request.headers.get("idempotency-key")
        if key is not None:
            self._remembered[request.path, key] = (request.body, answer)

    def _client(self, _request: Received, client: str) -> Performed:
        known = self.data.clients.get(client)
        if known is None:
            return Performed(answer=json_answer(404, {"error": "CLIENT_NOT_FOUND"}))
        return Performed(answer=json_answer(200, {"found": True, **known}))

    def _validation(self, request: Received, _parameter: str) -> Performed:
        order = checked_document(request.body, _VALIDATION)
        reasons = self.data.invalid_documents.get(order["documentId"])
        status = "VALID" if reasons is None else "INVALID"
        return Performed(answer=json_answer(200, {"status": status, "reasonCodes": list(reasons or [])}))

    def _bureau(self, request: Received, _parameter: str) -> Performed:
        order = checked_document(request.body, _CONSULTATION)
        score = self.data.scores.get(order["clienteId"])
        if score is None:
            return Performed(answer=json_answer(404, {"error": "CLIENT_NOT_FOUND"}))
        return self._once(request, lambda: {"score": score, "consultationId": self._next_id("BUR")})

    def _document(self, _request: Received, document: str) -> Performed:
        metadata = self.data.documents.get(document)
        if metadata is None:
            return Performed(answer=json_answer(404, {"error": "DOCUMENT_NOT_FOUND"}))
        return Performed(answer=json_answer(200, dict(metadata)))

    def _payment(self, request: Received, _parameter: str) -> Performed:
        # Whatever key it carries: this provider remembers none, so a repeated call pays twice.
        checked_document(request.body, _ANY_OBJECT)
        answer = json_answer(201, {"authorizationId": self._next_id("PAG"), "status": "AUTHORIZED"})
        return Performed(answer=answer, effect_applied=True)

    def _ledger(self, _request: Received, key: str) -> Performed:
        """Answer what was last authorised under a key, as people and probes read it in the provider's ledger."""
        made = self._remembered.get((_PAYMENTS, key))
        if made is None:
            return Performed(answer=json_answer(404, {"error": "NO_SUCH_PAYMENT"}))
        return Performed(answer=evolve(made[1], status=200))

    def _record(self, request: Received, _parameter: str) -> Performed:
        checked_document(request.body, _ANY_OBJECT)
        if "idempotency-key" not in request.headers:
            return Performed(answer=json_answer(400, {"error": "IDEMPOTENCY_KEY_REQUIRED"}))
        return self._once(request, lambda: {"recordId": self._next_id("REG")})

    def _once(self, request: Received, result: Callable[[], JsonObject]) -> Performed:
        key = request.headers.get("idempotency-key")
        remembered = self._remembered.get((request.path, key)) if key else None
        if remembered is None:
            return Performed(answer=json_answer(200, result()), effect_applied=True)
        body, answer = remembered
        if body != request.body:
            return Performed(answer=json_answer(422, {"error": "IDEMPOTENCY_KEY_REUSED"}))
        return Performed(answer=answer)

    def _next_id(self, prefix: str) -> str:
        self._effects += 1
        return f"{prefix}-{self._effects:06d}"


def _refusing(route: _Route, request: Received, parameter: str) -> Performed:
    try:
        return route.perform(request, parameter)
    except MalformedJson as error:
        return Performed(answer=json_answer(400, {"error": "MALFORMED_JSON", "detail": str(error)}))
    except DocumentRefused as error:
        refusal: JsonObject = {"error": "BODY_REFUSED", "pointer": error.pointer, "rule": error.rule}
        return Performed(answer=json_answer(400, refusal))


def _object_of_texts(*names: str) -> dict[str, Any]:
    return {
        "type": "object",
        "required": list(names),
        "properties": {name: {"type": "string", "minLength": 1} for name in names},
    }


_PAYMENTS = "/pagos/autorizaciones"
_VALIDATION = document_schema(_object_of_texts("documentId", "perfil"))
_CONSULTATION = document_schema(_object_of_texts("clienteId", "consentReference"))
_ANY_OBJECT = document_schema({"type": "object"})
