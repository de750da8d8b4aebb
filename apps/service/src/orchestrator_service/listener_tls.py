"""TLS of the API's own listener: a certificate and its key, from files."""

import ssl
from pathlib import Path

from attrs import frozen


@frozen(kw_only=True)
class ListenerTls:
    """The certificate that the listener shows, its chain included, and the key that belongs to it; both as PEM."""

    certificate_file: Path
    key_file: Path


def fault_of(tls: ListenerTls) -> str | None:
    """Say why these files can't serve, None if they can; neither what they hold nor where they are is told."""
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(
            tls.certificate_file, tls.key_file, password=_no_password
        )
    except _Encrypted:
        return "LISTEN_TLS_KEY_FILE is protected by a password; give the key without one."
    except PermissionError:
        return "LISTEN_TLS_CERTIFICATE_FILE or LISTEN_TLS_KEY_FILE can't be read by this user."
    except (OSError, ValueError):
        return "LISTEN_TLS_CERTIFICATE_FILE and LISTEN_TLS_KEY_FILE are no certificate and key that belong together."
    return None


class _Encrypted(Exception):
    """The key asks for a password."""


def _no_password() -> str:
    # OpenSSL would ask at the terminal otherwise, and a start would wait for ever.
    raise _Encrypted
