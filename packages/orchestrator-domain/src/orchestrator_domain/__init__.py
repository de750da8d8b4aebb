"""Decide, without a world, how configurable requests move through their flows.

The names below are what a host needs; the package's README tells each with its shape, its units and its errors. Each is
imported when it is first asked for, so that a host pays for what it uses.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from orchestrator_domain.actor import Actor
    from orchestrator_domain.decision.context import evaluation_context
    from orchestrator_domain.decision.evaluator import CompiledDecisionEvaluator
    from orchestrator_domain.decision.outcome import DecisionAmbiguous, DecisionFailed, DecisionMade
    from orchestrator_domain.errors import FlowInvalid, InvalidInput, OrchestratorError
    from orchestrator_domain.exact_json.text import dump_json, parse_json
    from orchestrator_domain.execution.attempt import Succeeded
    from orchestrator_domain.execution.completion import Completion, RunFault, finished_transition
    from orchestrator_domain.execution.stepping import FinishTransition, Run, StartAction, StopRun, next_step
    from orchestrator_domain.execution.verdict import GiveUp, GoOn, RetryLater, judge
    from orchestrator_domain.flow.contract import ActionContract, Effect
    from orchestrator_domain.flow.document import read_flow
    from orchestrator_domain.flow.limits import FlowLimits
    from orchestrator_domain.flow.ready import ReadyFlow
    from orchestrator_domain.flow.soundness import FlowSoundness
    from orchestrator_domain.ports.action_handler import ActionContext, ActionHandler
    from orchestrator_domain.ports.decision_evaluator import DecisionEvaluator
    from orchestrator_domain.ports.execution_queue import ExecutionQueue
    from orchestrator_domain.ports.unit_of_work import UnitOfWork
    from orchestrator_domain.request.acceptance import (
        Accepted,
        AcceptEventCommand,
        AnyRevision,
        Repeated,
        RevisionIn,
        decide_acceptance,
    )
    from orchestrator_domain.request.request import FlowReference, Request
    from orchestrator_domain.simulation.bulk import evaluate_many
    from orchestrator_domain.simulation.scenario import (
        NotAccepted,
        Scenario,
        Stopped,
        Transitioned,
        simulated,
    )
    from orchestrator_domain.usecases.accept_event import AcceptEvent
    from orchestrator_domain.usecases.create_request import CreateRequest
    from orchestrator_domain.usecases.run_execution import ExecutionRunner

__all__ = [
    "AcceptEvent",
    "AcceptEventCommand",
    "Accepted",
    "ActionContext",
    "ActionContract",
    "ActionHandler",
    "Actor",
    "AnyRevision",
    "CompiledDecisionEvaluator",
    "Completion",
    "CreateRequest",
    "DecisionAmbiguous",
    "DecisionEvaluator",
    "DecisionFailed",
    "DecisionMade",
    "Effect",
    "ExecutionQueue",
    "ExecutionRunner",
    "FinishTransition",
    "FlowInvalid",
    "FlowLimits",
    "FlowReference",
    "FlowSoundness",
    "GiveUp",
    "GoOn",
    "InvalidInput",
    "NotAccepted",
    "OrchestratorError",
    "ReadyFlow",
    "Repeated",
    "Request",
    "RetryLater",
    "RevisionIn",
    "Run",
    "RunFault",
    "Scenario",
    "StartAction",
    "StopRun",
    "Stopped",
    "Succeeded",
    "Transitioned",
    "UnitOfWork",
    "decide_acceptance",
    "dump_json",
    "evaluate_many",
    "evaluation_context",
    "finished_transition",
    "judge",
    "next_step",
    "parse_json",
    "read_flow",
    "simulated",
]

_ROOMS: Final = {
    "actor": ("Actor",),
    "decision.context": ("evaluation_context",),
    "decision.evaluator": ("CompiledDecisionEvaluator",),
    "decision.outcome": ("DecisionAmbiguous", "DecisionFailed", "DecisionMade"),
    "errors": ("FlowInvalid", "InvalidInput", "OrchestratorError"),
    "exact_json.text": ("dump_json", "parse_json"),
    "execution.attempt": ("Succeeded",),
    "execution.completion": ("Completion", "RunFault", "finished_transition"),
    "execution.stepping": ("FinishTransition", "Run", "StartAction", "StopRun", "next_step"),
    "execution.verdict": ("GiveUp", "GoOn", "RetryLater", "judge"),
    "flow.contract": ("ActionContract", "Effect"),
    "flow.document": ("read_flow",),
    "flow.limits": ("FlowLimits",),
    "flow.ready": ("ReadyFlow",),
    "flow.soundness": ("FlowSoundness",),
    "ports.action_handler": ("ActionContext", "ActionHandler"),
    "ports.decision_evaluator": ("DecisionEvaluator",),
    "ports.execution_queue": ("ExecutionQueue",),
    "ports.unit_of_work": ("UnitOfWork",),
    "request.acceptance": (
        "AcceptEventCommand",
        "Accepted",
        "AnyRevision",
        "Repeated",
        "RevisionIn",
        "decide_acceptance",
    ),
    "request.request": ("FlowReference", "Request"),
    "simulation.bulk": ("evaluate_many",),
    "simulation.scenario": ("NotAccepted", "Scenario", "Stopped", "Transitioned", "simulated"),
    "usecases.accept_event": ("AcceptEvent",),
    "usecases.create_request": ("CreateRequest",),
    "usecases.run_execution": ("ExecutionRunner",),
}
_ROOM_OF: Final = {name: room for room, names in _ROOMS.items() for name in names}


# Type checkers read the imports above; to them an unknown name is a fault.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        room = _ROOM_OF.get(name)
        if room is None:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        found = getattr(import_module(f"{__name__}.{room}"), name)
        globals()[name] = found
        return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
