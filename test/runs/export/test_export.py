"""What is exported is read back with the formats' own libraries and held against the recording."""

import json
from dataclasses import replace

import numpy as np
import pytest
from planned_runs import BEGINS, PERIOD, planned_recording

from contact_ddp_ros.apps.cli import main
from contact_ddp_ros.plants.pushes import Push
from contact_ddp_ros.robot.models.whole_body import WholeBodyModel
from contact_ddp_ros.robot.rotation import quaternion_to_matrix
from contact_ddp_ros.robot.state import STATE_PARTS
from contact_ddp_ros.runs import scene as look
from contact_ddp_ros.runs.export.signals import signals
from contact_ddp_ros.runs.options import ESTIMATED
from contact_ddp_ros.runs.recording import Recording, save
from contact_ddp_ros.runs.recording.record import kept_at, states_at
from contact_ddp_ros.runs.scene import RecordedRobot


@pytest.fixture(scope="module")
def recording():
    return planned_recording(pushes=(Push(1.0, (0.0, 40.0, 0.0), 0.1),))


@pytest.fixture(scope="module")
def folder(recording, tmp_path_factory):
    root = tmp_path_factory.mktemp("run")
    save(recording, root)
    return root


@pytest.fixture(scope="module")
def tables(recording):
    return {table.name: table for table in signals(recording)}


def test_the_newest_plan_that_covers_a_time_is_taken(recording):
    times = np.array([0.5, 0.6, 0.7, 0.85, 1.09, 1.2, 1.5, 1.9])
    np.testing.assert_array_equal(kept_at(recording.plans, times), [-1, 0, 0, 1, 1, -1, 2, -1])
    states = states_at(recording.plans, recording.ticks["time"])
    covered = np.isfinite(states).all(axis=1)
    assert covered.mean() == pytest.approx((BEGINS[1] - BEGINS[0] + 2 * PERIOD) / 2.0, abs=0.01)
    np.testing.assert_allclose(states[covered, 1], recording.ticks["position"][covered, 2] + 0.01, atol=1e-4)
    assert states_at({}, times).shape == (8, 0)


def test_numbers_are_those_of_the_recording(recording, tables):
    ticks = recording.ticks
    np.testing.assert_array_equal(tables["joints"].columns["fr_hip.position"], ticks["joint_positions"][:, 1])
    np.testing.assert_array_equal(tables["feet"].columns["hl.force.z"], ticks["contact_forces"][:, 3, 2])
    np.testing.assert_array_equal(tables["trunk"].columns["pitch"], recording.rpy[:, 1])
    np.testing.assert_array_equal(tables["solves"].columns["cost_terms.state"], recording.solves["cost_terms"][:, 0])
    down = tables["feet"].columns["fr.scheduled"]
    assert set(down[np.isfinite(down)]) == {0.0, 1.0}
    assert {"base_z", "fr_knee", "hl_hip_rate", "hr.normal_force"} <= tables["plan"].columns.keys()


def test_plans_of_both_models_have_the_names_of_the_legs(recording, tables):
    model, ticks, plans = WholeBodyModel, len(recording.ticks["time"]), recording.plans
    n = len(model.coordinates)
    info = replace(recording.info, plan_coordinates=model.coordinates, contact_points=tuple(model.legs_of))
    states = np.zeros((*plans["states"].shape[:2], 2 * n)) + np.arange(2 * n)
    forces = np.tile(np.arange(12.0).reshape(4, 3), (ticks, 1, 1))
    whole = Recording(
        info,
        {**recording.ticks, "planned_forces": forces},
        recording.solves,
        recording.events,
        {**plans, "states": states},
    )
    columns = next(table.columns for table in signals(whole) if table.name == "plan")
    assert tables["plan"].columns.keys() <= columns.keys(), "what the plane has, the whole body has"
    assert np.nanmax(columns["hl_knee"]) == model.coordinates.index("hl_knee_joint")
    assert np.nanmax(columns["hl_knee_rate"]) == n + model.coordinates.index("hl_knee_joint")
    assert set(columns["hr.normal_force"]) == {8.0}
    pair = recording.ticks["planned_forces"][:, 0, -1]
    np.testing.assert_allclose(tables["plan"].columns["fl.normal_force"], pair / 2, err_msg="half of the pair's")


def test_what_nobody_knows_is_left_out(tables):
    assert "fr_hip.target_position" not in tables["joints"].columns


def test_the_ghost_is_there_while_a_plan_is(recording):
    motion = RecordedRobot(recording)
    moments = list(motion.moments())
    assert len(moments) == 200
    trunk = motion.bodies.index("base_link")
    for moment in moments:
        assert (moment.ghost is None) == (kept_at(recording.plans, np.array([moment.time]))[0] < 0)
        if moment.ghost is not None:
            offset = moment.ghost.positions[trunk] - moment.robot.positions[trunk]
            assert offset[2] == pytest.approx(0.01, abs=1e-3)
    paths = list(motion.paths())
    assert [path.time for path in paths] == pytest.approx(BEGINS)
    assert paths[0].soles.shape == (4, len(paths[0].trunk), 3)


def test_the_plan_is_drawn_from_where_the_robot_was_not_from_where_it_seemed_to_be(recording):
    ticks = {f"true_{name}": recording.ticks[name] for name in STATE_PARTS} | recording.ticks
    lower = 0.1
    ticks["position"] = ticks["position"] - [0.0, 0.0, lower]
    plans = {**recording.plans, "states": recording.plans["states"].copy()}
    plans["states"][..., 1] -= lower
    info = replace(recording.info, options={**recording.info.options, "state": ESTIMATED})
    seen, there = (
        RecordedRobot(one) for one in (Recording(info, ticks, recording.solves, recording.events, plans), recording)
    )
    for one, other in zip(seen.moments(10.0), there.moments(10.0), strict=True):
        assert (one.ghost is None) == (other.ghost is None)
        if one.ghost is not None:
            np.testing.assert_allclose(one.ghost.positions, other.ghost.positions, atol=1e-9)
    for path, same in zip(seen.paths(), there.paths(), strict=True):
        np.testing.assert_allclose(path.soles, same.soles, atol=1e-9)


@pytest.mark.parametrize("direction", [[0.0, 0.0, 2.0], [1.0, 0.0, 0.0], [-1.0, 0.0, 0.0], [0.3, -2.0, 0.1]])
def test_arrows_point_along_their_force(direction):
    turned = quaternion_to_matrix(look.turn_to(np.array(direction)))[:, 0]
    np.testing.assert_allclose(turned, np.array(direction) / np.linalg.norm(direction), atol=1e-12)


@pytest.fixture(scope="module")
def mcap(folder):
    pytest.importorskip("foxglove", reason="pinned in requirements-export.txt")
    reader = pytest.importorskip("mcap.reader", reason="pinned in requirements-test.txt")
    assert main(["export", str(folder), "--to", "mcap"]) == 0
    with (folder / "run.mcap").open("rb") as file:
        opened = reader.make_reader(file)
        messages: dict[str, list] = {}
        for schema, channel, message in opened.iter_messages():
            messages.setdefault(channel.topic, []).append((schema, message))
        metadata = {entry.name: entry.metadata for entry in opened.iter_metadata()}
    return messages, metadata


def test_mcap_holds_every_number(mcap, recording, tables):
    messages, _ = mcap
    for name, table in tables.items():
        found = messages[f"/{name}"]
        assert [message.log_time for _, message in found] == [round(1e9 * float(time)) for time in table.times]
    pitch = [json.loads(message.data)["pitch"] for _, message in messages["/trunk"]]
    np.testing.assert_allclose(pitch, recording.rpy[:, 1])
    knees = [json.loads(message.data)["hr_knee"]["torque"] for _, message in messages["/joints"]]
    np.testing.assert_allclose(knees, recording.ticks["torques"][:, 8])
    planned = [json.loads(message.data).get("base_z") for _, message in messages["/plan"]]
    assert sum(one is None for one in planned) == np.isnan(tables["plan"].columns["base_z"]).sum()


def test_mcap_names_what_its_numbers_are(mcap, tables):
    messages, metadata = mcap
    schema = json.loads(messages["/joints"][0][0].data)
    assert schema["properties"]["fr_hip"]["properties"].keys() == {"position", "velocity", "torque"}
    assert json.loads(metadata["run"]["parameters"]) == {"planner": {"gait.name": "bound"}}
    assert json.loads(metadata["run"]["options"])["pushes"][0]["time"] == 1.0


def _decoded(schema, data):
    """A message by the description that the file brings along."""
    descriptor_pb2 = pytest.importorskip("google.protobuf.descriptor_pb2")
    from google.protobuf import descriptor_pool, message_factory

    files = descriptor_pb2.FileDescriptorSet.FromString(schema.data)
    pool = descriptor_pool.DescriptorPool()
    waiting = list(files.file)
    while waiting:  # each after those it needs
        one = next(file for file in waiting if not {w.name for w in waiting} & set(file.dependency))
        pool.Add(one)
        waiting.remove(one)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(schema.name)).FromString(data)


def test_mcap_shows_the_robot_where_it_was(mcap, recording):
    messages, _ = mcap
    schema, message = messages["/tf"][100]
    frames = {one.child_frame_id: one for one in _decoded(schema, message.data).transforms}
    trunk = frames["base_link"]
    assert trunk.parent_frame_id == "odom"
    row = int(np.searchsorted(recording.ticks["time"], 1e-9 * message.log_time - 1e-9))
    place = [trunk.translation.x, trunk.translation.y, trunk.translation.z]
    np.testing.assert_allclose(place, recording.ticks["position"][row], atol=1e-9)
    turn = [trunk.rotation.x, trunk.rotation.y, trunk.rotation.z, trunk.rotation.w]
    np.testing.assert_allclose(np.abs(np.dot(turn, recording.ticks["orientation"][row])), 1.0, atol=1e-9)
    schema, message = messages["/robot"][0]
    robot = _decoded(schema, message.data)
    assert {entity.frame_id for entity in robot.entities} <= frames.keys()
    assert all(entity.frame_locked for entity in robot.entities)


def test_mcap_takes_the_ghost_away_between_plans(mcap):
    messages, _ = mcap
    updates = [_decoded(schema, message.data) for schema, message in messages["/ghost"]]
    assert [bool(update.entities) for update in updates] == [True, False, True, False]
    assert len(messages["/plan_path"]) == len(BEGINS)


def test_mcap_has_an_arrow_for_every_loaded_foot(mcap, recording):
    messages, _ = mcap
    for schema, message in messages["/forces"][::37]:
        row = int(np.searchsorted(recording.ticks["time"], 1e-9 * message.log_time - 1e-9))
        arrows = {entity.id: entity.arrows for entity in _decoded(schema, message.data).entities}
        forces = np.linalg.norm(recording.ticks["contact_forces"][row], axis=1)
        assert len(arrows["measured"]) == (forces > look.SMALLEST_FORCE).sum()


def test_rerun_holds_numbers_robot_and_layout(folder, recording, tables, tmp_path):
    pytest.importorskip("rerun", reason="pinned in requirements-export.txt")
    chunk = pytest.importorskip("rerun.chunk", reason="reads files in rerun 0.40 and later")
    path = tmp_path / "x.rrd"
    assert main(["export", str(folder), "--to", "rerun", "-o", str(path)]) == 0
    reader = chunk.RrdReader(path)
    assert len(reader.recordings()) == 1
    assert len(reader.blueprints()) == 1
    rows: dict[str, int] = {}
    for one in reader.stream().to_chunks():
        rows[one.entity_path] = rows.get(one.entity_path, 0) + one.num_rows
    assert rows["/trunk/pitch"] == len(recording.ticks["time"])
    assert rows["/plan/base_z"] == np.isfinite(tables["plan"].columns["base_z"]).sum()
    assert rows["/world/robot/base_link"] == 200
    assert rows["/world/ghost/robot/base_link"] == 200
    assert rows["/world/plan"] == len(BEGINS)


def test_a_wrong_file_name_or_run_is_refused(folder, tmp_path, capsys):
    pytest.importorskip("foxglove")
    assert main(["export", str(folder), "--to", "mcap", "-o", str(tmp_path / "x.rrd")]) == 2
    assert "ends in .mcap" in capsys.readouterr().err
    assert main(["export", str(tmp_path), "--to", "mcap"]) == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind, library, group", [("mcap", "foxglove", "export"), ("html", "viser", "play")])
def test_without_the_library_it_is_said_what_brings_it(kind, library, group, folder, monkeypatch, capsys):
    from contact_ddp_ros.apps.cli import export

    def missing(name):
        raise ModuleNotFoundError(f"No module named '{library}'", name=library)

    monkeypatch.setattr(export, "import_module", missing)
    assert main(["export", str(folder), "--to", kind]) == 1
    assert f"package {library}: pip install -r requirements-{group}.txt" in capsys.readouterr().err
