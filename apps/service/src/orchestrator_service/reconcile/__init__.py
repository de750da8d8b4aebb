"""The commands `reconcile …`: what an operator does about executions that stopped, over the API."""
