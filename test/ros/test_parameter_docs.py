"""The page of parameters is that of the declarations, and every parameter says what it is."""

from pathlib import Path

import pytest

from contact_ddp_ros.base.config import specs
from contact_ddp_ros.ros import node_config
from contact_ddp_ros.ros.node_config import CONFIGURATIONS
from contact_ddp_ros.ros.parameter_docs import parameters_page
from contact_ddp_ros.runs.options import SECTIONS

PAGE = Path(__file__).parents[2] / "docs" / "parameters.md"


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == parameters_page(), "run: contact-ddp parameters > docs/parameters.md"


def test_every_configuration_of_a_node_is_on_the_page() -> None:
    named = {name for name in vars(node_config) if name.endswith("NodeConfig")}
    assert {type(config).__name__ for config in CONFIGURATIONS.values()} == named
    assert tuple(CONFIGURATIONS) == SECTIONS


@pytest.mark.parametrize("node", CONFIGURATIONS)
def test_every_parameter_is_described_and_every_number_bounded(node: str) -> None:
    for spec in specs(CONFIGURATIONS[node]).values():
        assert spec.description, spec.name
        if not isinstance(spec.default, bool | str):
            assert spec.low is not None and spec.high is not None, spec.name
            assert spec.low < spec.high
