"""Common to all rooms' tests; the helpers beside this file are imported by name (`oracle`)."""

import pytest
from hypothesis import HealthCheck, settings

# How long an example takes says something about the machine, not about the code.
settings.register_profile("steady", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("steady")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--fuzz", type=int, default=300, metavar="N", help="damaged messages of each topic")
