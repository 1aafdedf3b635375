"""Common to all rooms' tests; the helpers beside this file are imported by name (`oracle`)."""

import pytest
from hypothesis import HealthCheck, settings

from contact_ddp_ros.errors import LinkError
from contact_ddp_ros.lcm_link.transport import Link, LinkOptions, free_port

# How long an example takes says something about the machine, not about the code.
settings.register_profile("steady", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("steady")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--fuzz", type=int, default=300, metavar="N", help="damaged messages of each topic")


@pytest.fixture
def link_options() -> LinkOptions:
    """A link of the test's own: its port is nobody else's, so that two runs at once do not meet."""
    options = LinkOptions(port=free_port())
    try:
        Link(options)
    except LinkError as error:
        pytest.skip(str(error))
    return options
