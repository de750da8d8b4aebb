"""The two ways to write a database's URL."""

_DRIVER_PREFIX = "postgresql+psycopg://"


def driver_url(url: str) -> str:
    """Return the URL as libpq reads it (`postgresql://…`), whichever of the two ways it was written in."""
    if url.startswith(_DRIVER_PREFIX):
        return "postgresql://" + url.removeprefix(_DRIVER_PREFIX)
    return url


def alchemy_url(url: str) -> str:
    """Return the URL as SQLAlchemy reads it (`postgresql+psycopg://…`)."""
    for prefix in ("postgresql://", "postgres://"):
        if url.startswith(prefix):
            return _DRIVER_PREFIX + url.removeprefix(prefix)
    return url
