"""`orchestrator explain`: what happened to a request, what it waits for, and which events it would take."""
