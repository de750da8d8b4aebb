"""A10 a version with a licence is published; A18 the licence is configuration alone."""

from tests.acceptance.credit import CreditRequest
from tests.acceptance.flows import credito, credito_with_licence
from tests.plugins.api_user import code_of
from tests.plugins.running_service import RunningService
from tests.plugins.scripted_providers import ScriptedProviders


def test_a10_a18_new_requests_need_a_licence_and_older_ones_keep_their_way(
    service: RunningService, providers: ScriptedProviders
) -> None:
    type_key = service.offer(credito())
    older = CreditRequest.created(service, providers, type_key)
    schema_before = service.database.fingerprint()

    second = service.publish({**credito_with_licence(), "flowKey": type_key})
    published = CreditRequest.created(service, providers, type_key)
    shown = service.author.call("GET", f"/admin/request-types/{type_key}")
    service.activate(type_key, second, {"If-Match": shown.headers["ETag"]})
    newer = CreditRequest.created(service, providers, type_key)

    # Only the activation changes what new requests get.
    assert [each.shown()["flow"]["version"] for each in (older, published, newer)] == [1, 1, 2]
    for credit in (older, newer):
        credit.assign()
        credit.register("INE")
        credit.register("ESTADO_CUENTA")
    assert older.shown()["state"] == "BURO_PENDIENTE"
    assert newer.shown()["state"] == "LICENCIA_PENDIENTE"
    assert code_of(newer.analyst.send(newer.id, "VALIDAR_BURO", {"consentReference": "C-1"})) == (
        409,
        "INVALID_EVENT",
    )
    assert newer.register("LICENCIA_CONDUCIR")["result"]["outcome"] == "DOCUMENTO_VALIDO"
    assert [older.consult_bureau()["result"], newer.consult_bureau()["result"]] == [
        {"outcome": "N", "fromState": "BURO_PENDIENTE", "toState": "PASO_N"}
    ] * 2
    assert newer.shown()["data"]["documentos"].keys() == {"ine", "estadoCuenta", "licencia"}
    assert older.shown()["data"]["documentos"].keys() == {"ine", "estadoCuenta"}
    assert service.database.fingerprint() == schema_before


def test_a10_an_invalid_licence_keeps_the_request_waiting_for_one(
    service: RunningService, providers: ScriptedProviders
) -> None:
    credit = CreditRequest.created(service, providers, service.offer(credito_with_licence()))
    credit.assign()
    credit.register("INE")
    credit.register("ESTADO_CUENTA")
    document = credit.upload("LICENCIA_CONDUCIR")
    providers.know(invalidDocuments={document: ["VENCIDA"]})

    execution = credit.register("LICENCIA_CONDUCIR", document)

    assert execution["result"]["outcome"] == "DOCUMENTO_INVALIDO"
    assert credit.shown()["state"] == "LICENCIA_PENDIENTE"
    assert credit.shown()["data"]["validaciones"]["licencia"]["motivosValidacion"] == ["VENCIDA"]
    sent = providers.calls("/documentos/validaciones")[-1]["body"]
    assert sent == {"documentId": document, "perfil": "LICENCIA_CONDUCIR", "perfilVersion": 1}
