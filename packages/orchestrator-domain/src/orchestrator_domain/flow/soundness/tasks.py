"""What tasks show against what the actions of their transition enforce (specification, section 5: `ui` only presents)."""

from collections.abc import Iterator
from typing import Final

from orchestrator_domain.exact_json.canonical import canonical_json
from orchestrator_domain.exact_json.value import JsonValue
from orchestrator_domain.flow.definition import ActionDefinition, Task
from orchestrator_domain.flow.findings import Finding
from orchestrator_domain.flow.soundness.examined import Examined, error

_REGISTERING: Final = "REGISTER_DOCUMENT"
_DOCUMENT_RESTRICTIONS: Final = ("documentType", "acceptedMimeTypes", "maxBytes")


def task_findings(examined: Examined) -> Iterator[Finding]:
    """Yield members of `ui` that say another thing than the actions, and document restrictions that none enforces."""
    for task in examined.flow.tasks:
        transition = examined.flow.transition_for(task.state, task.event)
        if transition is not None:
            yield from _disagreements(examined, task, transition.actions)


def _disagreements(
    examined: Examined, task: Task, actions: tuple[ActionDefinition, ...]
) -> Iterator[Finding]:
    registers = any(action.type == _REGISTERING for action in actions)
    for name, shown in task.ui.items():
        place = examined.place_of(task).child("ui").child(name)
        enforced = [action.configuration[name] for action in actions if name in action.configuration]
        if enforced and all(_meaning(shown) != _meaning(each) for each in enforced):
            message = (
                f"The task shows another '{name}' than the transition's action enforces; write the same."
            )
            yield error("TASK_UI_DISAGREES", place, message)
        elif not enforced and registers and name in _DOCUMENT_RESTRICTIONS:
            message = f"The task shows the restriction '{name}', which no action enforces; give it to the action too."
            yield error("TASK_UI_DISAGREES", place, message)


def _meaning(value: JsonValue) -> str:
    """Write a value so that equal numbers are equal, and lists that hold the same in another order too."""
    if isinstance(value, list):
        return f"[{','.join(sorted(_meaning(element) for element in value))}]"
    return canonical_json(value)
