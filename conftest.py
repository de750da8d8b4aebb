"""What every test in the workspace may ask for."""

pytest_plugins = [
    "tests.plugins.property_tests",
    "tests.plugins.measured_coverage",
    "tests.plugins.postgres_server",
    "tests.plugins.migrated_database",
    "tests.plugins.running_service",
    "tests.plugins.simulation_seeds",
    "tests.plugins.fault_points",
    "tests.plugins.typed_commands",
]
