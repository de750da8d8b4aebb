"""Logs: one JSON object a line, with ids and codes and never with data.

Exceptions of libraries may quote values (a database's DETAIL, a validator's instance), so only the type of an
unexpected exception and the places of its trace are written, never its text and never local variables.
"""

import json
import logging
import sys
import traceback
from collections.abc import Mapping, MutableMapping
from contextlib import suppress
from typing import Any, Final, TextIO

import structlog
from attrs import frozen
from opentelemetry.trace import format_trace_id, get_current_span

_QUOTING_LIBRARIES: Final = ("opentelemetry", "urllib3")
"""Loggers that quote the collector's URL, which may hold a token, and whatever the collector answered."""


def configure_logs(level: str) -> None:
    """Send everything, the libraries' records included, to standard error as JSON lines."""
    shared: list[structlog.typing.Processor] = [
        _place_in_trace,
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        _exception_without_text,
    ]
    stream = sys.stderr
    structlog.configure(
        processors=[*shared, structlog.processors.JSONRenderer()],
        # What isn't written costs nothing, and our own lines don't pay for a record of the standard library each.
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=lambda name: _Lines(name, stream),
        cache_logger_on_first_use=True,
    )
    handler = _Records(stream)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                structlog.processors.JSONRenderer(),
            ],
        )
    )
    handler.addFilter(_template_alone)
    root = logging.getLogger()
    # A handler that a library brings along would print the arguments and the exceptions of what it can't write.
    logging.raiseExceptions = False
    root.handlers = [handler]
    root.setLevel(level)
    for chatty in ("uvicorn.access", "httpx2", "httpcore2"):
        logging.getLogger(chatty).setLevel(logging.WARNING)


@frozen
class _Lines:
    """Write whole lines. Where they can't be written nobody is told, as with the records of libraries."""

    name: str
    _stream: TextIO

    def _write(self, line: str) -> None:
        with suppress(OSError, ValueError):
            self._stream.write(f"{line}\n")
            self._stream.flush()

    debug = info = warning = error = critical = _write


class _Records(logging.StreamHandler[TextIO]):
    """Write the records of libraries; of one that can't be written, only whose it was."""

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - the standard library's name
        with suppress(OSError, ValueError):
            told = {"event": "record_unwritable", "level": "error", "logger": record.name}
            self.stream.write(f"{json.dumps(told)}{self.terminator}")
            self.flush()


def _template_alone(record: logging.LogRecord) -> bool:
    """Let what a library says about sending traces be told without what it quotes."""
    if record.name.partition(".")[0] in _QUOTING_LIBRARIES:
        record.args = ()
    return True


def _place_in_trace(
    _logger: object, _method: str, event: MutableMapping[str, Any]
) -> MutableMapping[str, Any]:
    """Name the trace that the line belongs to, if there is one."""
    place = get_current_span().get_span_context()
    if place.is_valid:
        event["traceId"] = format_trace_id(place.trace_id)
    return event


def _exception_without_text(
    _logger: object, _method: str, event: MutableMapping[str, Any]
) -> Mapping[str, Any]:
    """Replace an exception by its type and the places that it passed."""
    given = event.pop("exc_info", None)
    exception = sys.exc_info()[1] if given is True else given[1] if isinstance(given, tuple) else given
    if isinstance(exception, BaseException):
        event["exceptionType"] = type(exception).__name__
        event["exceptionPlaces"] = [
            f"{frame.name}:{frame.lineno}" for frame in traceback.extract_tb(exception.__traceback__)[-12:]
        ]
    return event
