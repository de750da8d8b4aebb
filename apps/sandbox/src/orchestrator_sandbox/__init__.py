"""Run the service with everything around it on one machine, never in production."""
