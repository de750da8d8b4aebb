"""Ask every trusted issuer for its keys, as the API would at its first token."""

from collections.abc import Sequence

from orchestrator_http.key_documents import DocumentUnavailable, key_set_document
from orchestrator_http.late_imports import late_document, late_keys
from orchestrator_http.trusted_issuer import TrustedIssuer
from orchestrator_service.assembly.api import trusted_issuers
from orchestrator_service.settings import Settings


async def issuer_reports(settings: Settings) -> Sequence[tuple[str, str | None]]:
    """Return each issuer with the reason why its keys can't be had, or None; raise SettingsInvalid."""
    return [(issuer.issuer, await _reason(issuer)) for issuer in trusted_issuers(settings)]


async def _reason(issuer: TrustedIssuer) -> str | None:
    try:
        keys = await late_keys(await key_set_document(issuer, late_document))
    except DocumentUnavailable as fault:
        return str(fault)
    return None if keys else "The key set holds no usable key."
