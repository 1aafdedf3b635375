"""The private corner of the middleware: what tells it of its profile."""

import pytest

from contact_ddp_ros.nodes.domain import PROFILE, profile_variables

OLDER, NEWER = "FASTRTPS_DEFAULT_PROFILES_FILE", "FASTDDS_DEFAULT_PROFILES_FILE"


@pytest.mark.parametrize(("distribution", "names"), [("jazzy", {OLDER, NEWER}), ("kilted", {NEWER})])
def test_the_profile_is_named_as_the_distribution_wants_it(
    monkeypatch: pytest.MonkeyPatch, distribution: str, names: set[str]
) -> None:
    monkeypatch.setenv("ROS_DISTRO", distribution)
    assert profile_variables(str(PROFILE)) == dict.fromkeys(names, str(PROFILE))
