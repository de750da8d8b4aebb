"""Who writes, publishes and activates flows."""

from attrs import frozen

from orchestrator_domain.exact_json.value import JsonObject
from orchestrator_sandbox.demo.clients import ApiClient


@frozen(kw_only=True)
class Configurator:
    """Bring flows into the service by its administration."""

    client: ApiClient

    def published(self, flow: JsonObject) -> tuple[str, str]:
        """Write, validate and publish a flow; return its id and its status, or what hinders it."""
        flow_id = str(self.client.done("POST", "/admin/flows", flow).json()["flowId"])
        report = self.client.done("POST", f"/admin/flows/{flow_id}/validate").json()
        if not report["publishable"]:
            return flow_id, "findings: " + ", ".join(finding["code"] for finding in report["findings"])
        published = self.client.done("POST", f"/admin/flows/{flow_id}/publish").json()
        return flow_id, str(published["status"])

    def activate(self, type_key: str, flow_id: str) -> str:
        """Make the flow the active one of a new type."""
        return self._activated(type_key, flow_id, {"If-None-Match": "*"})

    def replace(self, type_key: str, flow_id: str) -> str:
        """Make the flow the active one of a type that has another."""
        tag = self.client.done("GET", f"/admin/request-types/{type_key}").headers["ETag"]
        return self._activated(type_key, flow_id, {"If-Match": tag})

    def _activated(self, type_key: str, flow_id: str, precondition: dict[str, str]) -> str:
        path = f"/admin/request-types/{type_key}/active-flow"
        active = self.client.done("PUT", path, {"flowId": flow_id}, headers=precondition).json()
        if active["activeFlowId"] != flow_id:
            return "another flow is active"
        return f"active for {active['typeKey']}"
