"""Ids, keys and tokens as distinct types, so that two strings side by side can't be swapped."""

import re
from typing import NewType
from uuid import UUID

RequestId = NewType("RequestId", UUID)
FlowId = NewType("FlowId", UUID)
ExecutionId = NewType("ExecutionId", UUID)
CheckpointId = NewType("CheckpointId", UUID)
AuditEntryId = NewType("AuditEntryId", UUID)
DocumentReferenceId = NewType("DocumentReferenceId", UUID)
ResolutionId = NewType("ResolutionId", UUID)

FlowKey = NewType("FlowKey", str)
StateKey = NewType("StateKey", str)
EventKey = NewType("EventKey", str)
TransitionKey = NewType("TransitionKey", str)
ActionKey = NewType("ActionKey", str)
ResultKey = NewType("ResultKey", str)
DecisionKey = NewType("DecisionKey", str)
RuleKey = NewType("RuleKey", str)
RequestTypeKey = NewType("RequestTypeKey", str)

Subject = NewType("Subject", str)
Role = NewType("Role", str)
BusinessScope = NewType("BusinessScope", str)

IdempotencyKey = NewType("IdempotencyKey", str)
Sha256Hex = NewType("Sha256Hex", str)
LeaseOwner = NewType("LeaseOwner", str)
FencingToken = NewType("FencingToken", int)
Revision = NewType("Revision", int)
CorrelationId = NewType("CorrelationId", str)
TraceParent = NewType("TraceParent", str)
"""A place in a trace, as the header `traceparent` writes it; carried from a command to whoever runs it, never read."""

_KEY = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,99}")


def is_key(text: str) -> bool:
    """Say whether a text can be a key of the flow language or of a request type: 1–100 characters, a letter first."""
    return _KEY.fullmatch(text) is not None
