"""`orchestrator retention`: erase personal data by a policy or on demand, and say what was erased."""
