"""Logs: ids and codes, never texts of exceptions and never data."""

import json
import logging
from io import StringIO

import pytest
from structlog.stdlib import get_logger

from orchestrator_service.logs import configure_logs

pytestmark = pytest.mark.usefixtures("logging_as_before")


def _lines(capsys: pytest.CaptureFixture[str]) -> list[dict[str, object]]:
    return [json.loads(line) for line in capsys.readouterr().err.splitlines()]


def _fail(secret: str) -> None:
    raise ValueError(f'duplicate key value: DETAIL: Key (email)=("{secret}")')


def test_an_exception_is_told_by_type_and_places_and_not_by_its_text(
    capsys: pytest.CaptureFixture[str],
) -> None:
    configure_logs("INFO")
    try:
        _fail("hunter2")
    except ValueError as fault:
        get_logger("orchestrator.test").error("unexpected", correlationId="c-1", exc_info=fault)
        logging.getLogger("some.library").exception("it failed")

    ours, library = _lines(capsys)
    for line in (ours, library):
        assert line["exceptionType"] == "ValueError"
        assert "_fail" in str(line["exceptionPlaces"])
        assert "hunter2" not in json.dumps(line)
    assert (ours["correlationId"], ours["event"]) == ("c-1", "unexpected")
    assert (library["logger"], library["event"]) == ("some.library", "it failed")


def test_chained_exceptions_and_local_variables_are_not_told_either(
    capsys: pytest.CaptureFixture[str],
) -> None:
    configure_logs("INFO")
    password = "hunter2"
    try:
        try:
            _fail(password)
        except ValueError as fault:
            raise RuntimeError(password) from fault
    except RuntimeError:
        get_logger("orchestrator.test").error("unexpected", exc_info=True)

    (line,) = _lines(capsys)
    assert line["exceptionType"] == "RuntimeError"
    assert "hunter2" not in json.dumps(line)


def test_the_level_holds_for_everybody_and_chatty_libraries_only_warn(
    capsys: pytest.CaptureFixture[str],
) -> None:
    configure_logs("WARNING")
    get_logger("orchestrator").info("quiet")
    logging.getLogger("httpx2").warning("heard")
    configure_logs("DEBUG")
    logging.getLogger("httpx2").info("GET http://provider/people/hunter2")

    assert [line["event"] for line in _lines(capsys)] == ["heard"]


def test_what_a_library_says_about_sending_traces_is_told_without_what_it_quotes(
    capsys: pytest.CaptureFixture[str],
) -> None:
    configure_logs("DEBUG")
    logging.getLogger("opentelemetry.exporter.x").warning(
        "Transient error %s, retrying in %.2fs.", "hunter2", 1
    )
    logging.getLogger("urllib3.connectionpool").debug('%s "%s"', "http://collector", "POST /?token=hunter2")
    logging.getLogger("some.library").warning("retrying in %d s", 3)

    assert [line["event"] for line in _lines(capsys)] == [
        "Transient error %s, retrying in %.2fs.",
        '%s "%s"',
        "retrying in 3 s",
    ]


def test_of_a_record_that_cannot_be_written_only_whose_it_was_is_told(
    capsys: pytest.CaptureFixture[str],
) -> None:
    configure_logs("INFO")
    try:
        _fail("hunter2")
    except ValueError:
        logging.getLogger("some.library").info("%d of them", "hunter2")

    (line,) = _lines(capsys)
    assert line == {"event": "record_unwritable", "level": "error", "logger": "some.library"}


def test_handlers_of_libraries_print_nothing_of_what_they_cannot_write_either(
    capsys: pytest.CaptureFixture[str],
) -> None:
    configure_logs("INFO")
    record = logging.makeLogRecord({"msg": "%d of them", "args": ("hunter2",)})
    logging.StreamHandler().handle(record)

    assert capsys.readouterr().err == ""


def test_a_record_for_which_there_is_no_stream_any_more_disturbs_nobody(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    gone = StringIO()
    monkeypatch.setattr("sys.stderr", gone)
    configure_logs("INFO")
    gone.close()
    logging.getLogger("some.library").info("unheard")
    assert gone.closed
