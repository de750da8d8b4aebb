"""Data of a person that nobody may find where it doesn't belong, and integrations through which all of it passes."""

from pathlib import Path
from typing import Any, Final

from tests.plugins.trial_catalogue import SHORT_RETRY, trial_catalogue

NAME: Final = "XochitlNavarro"
CLIENT: Final = f"CLI-{NAME}"
EMAIL: Final = f"{NAME}@correo.example"
SCORE: Final = "613.0427"
SUBJECT: Final = f"persona-{NAME}"
MEMBER: Final = "NacidoEl19570307"
PROVIDER_SECRET: Final = "secreto-del-buro-9f27"
NEEDLES: Final = (NAME, SCORE, PROVIDER_SECRET)
"""What all of it holds; whoever searches for these finds any of it. A member's name may be told to whoever sent it, in the
pointer of a problem, and to nobody else.
"""

GUARDED, UNREACHABLE, UNSET, SICK = "BURO_GUARDADO", "BURO_LEJANO", "BURO_SIN_CLAVE", "BURO_ENFERMO"


def delicate_catalogue(*, lost_secret: Path) -> dict[str, Any]:
    """Return the trial catalogue with a bureau behind a secret, one far away, one whose secret gets lost, and a sick one."""
    catalogue = trial_catalogue()
    usual = catalogue["endpoints"]["providers"]

    catalogue["endpoints"] |= {
        "guarded": {**usual, "authentication": {"kind": "bearer", "secret": {"env": "PROVIDER_SECRET"}}},
        "far": {**usual, "baseUrl": f"http://127.0.0.1:1/{NAME}"},
        "unset": {**usual, "authentication": {"kind": "bearer", "secret": {"file": str(lost_secret)}}},
        "sick": {**usual, "circuitBreaker": {"failuresToOpen": 1}},
    }
    (bureau,) = (each for each in catalogue["integrations"] if each["integrationKey"] == "BURO_CONSULTA")
    endpoints = {GUARDED: "guarded", UNREACHABLE: "far", UNSET: "unset", SICK: "sick"}
    catalogue["integrations"] += [
        {**bureau, "integrationKey": key, "endpoint": endpoint, "retry": SHORT_RETRY}
        for key, endpoint in endpoints.items()
    ]
    return catalogue
