"""The HTTP applications: the use cases over PostgreSQL, for those whom a trusted issuer names."""

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Final

from attrs import evolve
from starlette.types import ASGIApp
from structlog.stdlib import get_logger

from orchestrator_domain.decision.context import EvaluationContext
from orchestrator_domain.decision.definition import DecisionDefinition
from orchestrator_domain.decision.evaluator import CompiledDecisionEvaluator
from orchestrator_domain.decision.outcome import DecisionResult
from orchestrator_domain.flow.soundness import FlowSoundness
from orchestrator_domain.identifiers import CorrelationId, Role
from orchestrator_domain.ports.decision_evaluator import DecisionEvaluator
from orchestrator_domain.simulation.no_op import with_no_op
from orchestrator_domain.usecases.accept_event import AcceptEvent
from orchestrator_domain.usecases.activate_flow import ActivateFlow
from orchestrator_domain.usecases.assess_impact import AssessImpact
from orchestrator_domain.usecases.author_flow import AuthorFlow
from orchestrator_domain.usecases.create_request import CreateRequest
from orchestrator_domain.usecases.list_available_events import ListAvailableEvents
from orchestrator_domain.usecases.read_history import ReadHistory
from orchestrator_domain.usecases.read_request import ReadRequest
from orchestrator_domain.usecases.resolve_execution import ResolveExecution
from orchestrator_domain.usecases.simulate_flow import SimulateFlow
from orchestrator_domain.usecases.stopped_executions import StoppedExecutions
from orchestrator_http.app import build_app
from orchestrator_http.authentication import Authentication
from orchestrator_http.change_poll import ChangePoll
from orchestrator_http.cursors import Cursors
from orchestrator_http.management import build_management_app
from orchestrator_http.problem_boundary import Answered
from orchestrator_http.routes import route_table
from orchestrator_http.services import HttpServices, HttpSettings
from orchestrator_http.trusted_issuer import TrustedIssuer
from orchestrator_postgres.change_marks import PostgresChangeMarks
from orchestrator_postgres.published_flows import PostgresPublishedFlows
from orchestrator_postgres.recent_past import PostgresRecentPast
from orchestrator_postgres.unit_of_work import PostgresUnitOfWork
from orchestrator_service.assembly.parts import Parts
from orchestrator_service.environment import SettingsInvalid
from orchestrator_service.metric_table import HTTP_ANSWERS, HTTP_PROBLEMS
from orchestrator_service.metrics import Metrics
from orchestrator_service.observation import request_context
from orchestrator_service.settings import Settings

_CODES_OF_ALERTS: Final = ("STORAGE_UNAVAILABLE", "AUTHENTICATION_UNAVAILABLE")


def authentication_by(settings: Settings) -> Authentication | None:
    if not settings.serves_api:
        return None
    log = get_logger("orchestrator.authentication")
    try:
        return Authentication.by(
            trusted_issuers(settings),
            report=lambda issuer, reason: log.warning(
                "issuer_keys_unavailable", issuer=issuer.issuer, reason=reason
            ),
        )
    except ValueError as fault:
        raise SettingsInvalid((f"AUTH_ISSUERS: {fault}",)) from None


def trusted_issuers(settings: Settings) -> Sequence[TrustedIssuer]:
    try:
        # The names were checked when the setting was read; the values are TrustedIssuer's to judge.
        return [TrustedIssuer(**arguments) for arguments in settings.issuers]  # type: ignore[arg-type]
    except ValueError as fault:
        raise SettingsInvalid((f"AUTH_ISSUERS: {fault}",)) from None


def api_app(parts: Parts, authentication: Authentication) -> ASGIApp:
    services, settings = _http_services(parts, authentication), _http_settings(parts.settings)
    for route in route_table(services, settings):
        for code in _CODES_OF_ALERTS:
            # Told as 0 from the start: an alert doesn't see the first 1 of a series that is born with it.
            parts.metrics.counter(HTTP_PROBLEMS).labels(route.path, code)
    return build_app(services, settings)


def _http_settings(settings: Settings) -> HttpSettings:
    return HttpSettings(
        request_api_enabled=settings.request_api_enabled,
        flow_admin_enabled=settings.flow_admin_enabled,
        api_docs_enabled=settings.api_docs_enabled,
        request_body_bytes_max=settings.request_body_bytes_max,
        flow_body_bytes_max=settings.flow_body_bytes_max,
    )


def _http_services(parts: Parts, authentication: Authentication) -> HttpServices:
    unit_of_work = PostgresUnitOfWork(parts.engine)
    validator = FlowSoundness(
        resolve_contract=parts.catalogue.current,
        known_roles=frozenset(map(Role, parts.settings.business_roles)) or None,
        limits=parts.settings.limits,
    )
    with_no_op_known = evolve(validator, resolve_contract=with_no_op(parts.catalogue.current))
    stopped = StoppedExecutions(unit_of_work=unit_of_work, flows=parts.flows, catalogue=parts.catalogue)
    return HttpServices(
        authenticate=authentication,
        create_request=CreateRequest(
            unit_of_work=unit_of_work,
            flows=parts.flows,
            identifiers=parts.identifiers,
            limits=parts.settings.limits,
            observer=parts.observer,
        ),
        accept_event=AcceptEvent(
            unit_of_work=unit_of_work,
            flows=parts.flows,
            identifiers=parts.identifiers,
            wakeup=parts.wakeup,
            observer=parts.observer,
        ),
        read_request=ReadRequest(unit_of_work=unit_of_work, flows=parts.flows),
        list_available_events=ListAvailableEvents(unit_of_work=unit_of_work, flows=parts.flows),
        read_history=ReadHistory(unit_of_work=unit_of_work),
        stopped_executions=stopped,
        resolve_execution=ResolveExecution(
            unit_of_work=unit_of_work,
            stopped=stopped,
            identifiers=parts.identifiers,
            wakeup=parts.wakeup,
            observer=parts.observer,
        ),
        author_flow=AuthorFlow(
            unit_of_work=unit_of_work,
            validator=validator,
            catalogue=parts.catalogue,
            identifiers=parts.identifiers,
            run_heavy=parts.heavy_work.run,
        ),
        activate_flow=ActivateFlow(unit_of_work=unit_of_work),
        simulate_flow=SimulateFlow(
            unit_of_work=unit_of_work,
            validator=with_no_op_known,
            catalogue=parts.catalogue,
            evaluator=_ForgetfulEvaluator(),
            limits=parts.settings.limits,
            run_heavy=parts.heavy_work.run,
        ),
        assess_impact=AssessImpact(
            unit_of_work=unit_of_work,
            validator=with_no_op_known,
            recent_past=PostgresRecentPast(parts.engine),
            published_flows=PostgresPublishedFlows(parts.engine),
            new_evaluator=CompiledDecisionEvaluator,
            run_heavy=parts.heavy_work.run,
        ),
        identifiers=parts.identifiers,
        readiness=parts.unreadiness,
        change_poll=ChangePoll(
            marks=PostgresChangeMarks(parts.engine),
            draining=lambda: parts.draining.begun,
            disturbed=_disturbed_poll,
        ),
        cursors=Cursors(secrets=parts.settings.cursor_secrets),
        on_unexpected=_told_to_the_log,
        on_answered=partial(_counted_and_logged, parts.metrics),
        on_begun=request_context,
        tracer=parts.tracer,
    )


class _ForgetfulEvaluator(DecisionEvaluator):
    """Decide without keeping anything: simulations run in several threads and read their flow anew each time."""

    def evaluate(self, definition: DecisionDefinition, context: EvaluationContext) -> DecisionResult:
        return CompiledDecisionEvaluator().evaluate(definition, context)


def management_app(parts: Parts, scrape: Callable[[], Awaitable[bytes]]) -> ASGIApp:
    return build_management_app(
        readiness=parts.unreadiness,
        exposition=scrape,
        identifiers=parts.identifiers,
        on_unexpected=_told_to_the_log,
    )


def _told_to_the_log(exception: Exception, correlation_id: CorrelationId) -> None:
    get_logger("orchestrator.http").error("unexpected", correlationId=correlation_id, exc_info=exception)


def _counted_and_logged(metrics: Metrics, answered: Answered) -> None:
    """Tell of an answer by the template of its path: a path and a query may say whom it is about."""
    route = answered.route or "none"
    labels = (answered.method, route, str(answered.status))
    metrics.histogram(HTTP_ANSWERS).labels(*labels).observe(answered.seconds)
    if answered.code is not None:
        metrics.counter(HTTP_PROBLEMS).labels(route, answered.code).inc()
    get_logger("orchestrator.http").info(
        "answered",
        method=answered.method,
        route=answered.route,
        status=answered.status,
        seconds=round(answered.seconds, 6),
        correlationId=answered.correlation_id,
        **({} if answered.code is None else {"code": answered.code}),
        **answered.ids,
    )


def _disturbed_poll(fault: Exception) -> None:
    get_logger("orchestrator.http").error("change_poll_disturbed", exc_info=fault)
