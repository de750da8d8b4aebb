"""The fence as the parameters of every fenced statement."""

from orchestrator_domain.execution.execution import Fence


def fence_values(fence: Fence) -> dict[str, object]:
    return {
        "execution_id": fence.execution_id,
        "request_id": fence.request_id,
        "owner": fence.owner,
        "token": fence.token,
    }
