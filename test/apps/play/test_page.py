"""The page before there is a robot: its address, the robot standing, and what is going on meanwhile."""

from types import SimpleNamespace

import numpy as np
import pytest

from contact_ddp_ros.runs.live.commands import Answer, Building, Command
from contact_ddp_ros.runs.options import RunOptions
from contact_ddp_ros.runs.web_scene import DARK

pytest.importorskip("viser", reason="pinned in requirements-play.txt")


def test_a_fall_has_its_reason_in_a_sentence() -> None:
    from contact_ddp_ros.apps.play.status import shortened

    fault = "tilt: roll is -0.79 rad; allowed: ±0.80 about the ground's 0.01"
    why = "; on the way down for want of policies: policy_stale: the policy is 0.03 s old"
    push = "; in the second before came a push of 15.0 N·s"
    assert shortened(fault + why + push) == fault + push
    assert shortened("the simulation has failed") == "the simulation has failed"


def test_a_fall_of_two_robots_names_the_one_that_fell_and_what_the_other_does() -> None:
    from contact_ddp_ros.apps.play.status import fall_of

    def two(tuned: str, kept: str) -> str:
        one = SimpleNamespace(fall=kept, mode="move")
        return fall_of(SimpleNamespace(fall=tuned, mode="stand", kept=one))  # type: ignore[arg-type]

    assert two("tilt: roll is 0.9 rad; on the way", "") == "B, tilt: roll is 0.9 rad; A is in move"
    assert two("", "height: 0.1 m; allowed: more") == "A, height: 0.1 m; allowed: more; B is in stand"
    assert two("tilt", "height") == "B, tilt; A, height"
    assert two("", "") == ""


def test_parameters_differ_but_for_those_of_the_world() -> None:
    from contact_ddp_ros.apps.play.compare_panel import differing

    assert differing({"a.x": 1.0, "a.y": 2, "simulator.z": 3}, {"a.x": 1.0, "a.y": 4, "simulator.z": 5}) == {"a.y": 2}


def test_areas_stand_upon_each_other_and_add_up_to_the_cost() -> None:
    from contact_ddp_ros.apps.play.strips import stacked

    terms = [np.array([1.0, 2.0]), np.array([0.5, -1.0]), np.array([0.0, 3.0])]
    assert np.array_equal(stacked(terms), [[1.0, 2.0], [1.5, 2.0], [1.5, 5.0]])


def test_curves_of_a_robot_that_fell_end_and_those_of_the_other_go_on() -> None:
    from contact_ddp_ros.apps.play.strips import at_times

    time = np.array([0.0, 0.5, 1.0])
    assert np.array_equal(at_times(time, [(0.0, 1.0, 4.0), (1.0, 2.0, 8.0)], 2), [[1.0, 1.5, 2.0], [4.0, 6.0, 8.0]])
    assert np.array_equal(at_times(time, [], 2), np.zeros((2, 3)))


class Compiling:
    """A link to a robot that is not ready and never will be."""

    def __init__(self) -> None:
        self.inbox: list[object] = [Building("compiling: 12 kernels in 4 s")]

    def send(self, command: Command) -> None:
        pass

    def news(self) -> list[object]:
        found, self.inbox = self.inbox, []
        return found

    def failure(self) -> str:
        return ""

    def close(self) -> None:
        pass


def test_it_shows_the_robot_standing_and_what_is_going_on_until_the_loop_is_there() -> None:
    from contact_ddp_ros.apps.play.page import Page

    link = Compiling()
    page = Page(link, "127.0.0.1", 0)  # type: ignore[arg-type]
    try:
        page.show(RunOptions(terrain="step:0.5,0.05"))
        assert {"base_link", "fr_abad"} <= {page.scene._figure.bodies[body] for body in page.scene._bodies}
        page._darken(True)
        assert page.server.scene.get_handle_by_name("/world/ground/0").plane_color == DARK[0]  # type: ignore[union-attr]
        assert min(frame.position[2] for frame in page.scene._bodies.values()) > 0.0, "it stands"
        page.look()
        assert "Starting: compiling: 12 kernels in 4 s" in page._status._text.content
        link.inbox = [Answer(False, "no such gait")]
        page.look()
        assert page._world is None
    finally:
        page.close()
