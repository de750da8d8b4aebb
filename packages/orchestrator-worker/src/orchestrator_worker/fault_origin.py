"""Where an unexpected exception came from, told without its text, which may hold data."""

from pathlib import PurePath
from traceback import extract_tb

from orchestrator_domain.errors import OrchestratorError


def code_of(error: BaseException) -> str:
    """Return the stable code of our own errors, INTERNAL_ERROR for any other."""
    return error.code if isinstance(error, OrchestratorError) else "INTERNAL_ERROR"


def kind_of(error: BaseException) -> str:
    return f"{type(error).__module__}.{type(error).__qualname__}"


def origin_of(error: BaseException) -> str:
    """Return `file:line function` of where it was raised."""
    frames = extract_tb(error.__traceback__)
    if not frames:
        return "unknown"
    last = frames[-1]
    return f"{PurePath(last.filename).name}:{last.lineno} {last.name}"
