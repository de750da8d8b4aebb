"""What the acceptance cases share."""

import pytest
from tests.acceptance.credit import CreditRequest
from tests.acceptance.flows import credito, scoring
from tests.plugins.running_service import RunningService
from tests.plugins.scripted_providers import ScriptedProviders


@pytest.fixture(scope="session")
def credit_type(service_with_worker: RunningService) -> str:
    """The type whose active flow is the example flow."""
    return service_with_worker.offer(credito())


@pytest.fixture(scope="session")
def scoring_type(service_with_worker: RunningService) -> str:
    """The type whose active flow is the example flow's last step."""
    return service_with_worker.offer(scoring())


@pytest.fixture
def credit(service: RunningService, providers: ScriptedProviders, credit_type: str) -> CreditRequest:
    """A new request of the example flow."""
    return CreditRequest.created(service, providers, credit_type)
