"""`orchestrator doctor`: what stands in the way of serving from here, and what to do about it."""
