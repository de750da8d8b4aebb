"""The refusal to start."""

from orchestrator_domain.errors import OrchestratorError


class StartRefused(OrchestratorError):
    """The database isn't one that this process may serve from, or not with this catalogue; each fault is one sentence."""

    code = "START_REFUSED"

    def __init__(self, faults: tuple[str, ...]) -> None:
        super().__init__(" ".join(faults))
        self.faults = faults
