"""What makes a forked process one of an older release: it can't read flows whose key says that they are newer."""

import os

from orchestrator_domain.errors import FlowUnreadable
from orchestrator_domain.flow.ready import ReadyFlow
from orchestrator_domain.request.request import FlowReference
from orchestrator_domain.usecases.flow_library import FlowLibrary

_UNKNOWN_KEY = "UNKNOWN_FLOW_KEY"
_ready = FlowLibrary.ready


async def _as_an_older_release(library: FlowLibrary, flow: FlowReference, flows: object) -> ReadyFlow:
    if flow.key == os.environ[_UNKNOWN_KEY]:
        raise FlowUnreadable("This release doesn't know what the flow uses.")
    return await _ready(library, flow, flows)  # type: ignore[arg-type]


FlowLibrary.ready = _as_an_older_release  # type: ignore[assignment,method-assign]
