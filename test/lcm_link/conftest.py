"""A link of a test's own: its port is nobody else's, so that two runs at once do not meet."""

import pytest

from contact_ddp_ros.errors import LinkError
from contact_ddp_ros.lcm_link.transport import Link, LinkOptions, free_port


@pytest.fixture
def link_options() -> LinkOptions:
    options = LinkOptions(port=free_port())
    try:
        Link(options)
    except LinkError as error:
        pytest.skip(str(error))
    return options
