"""What a loop's monitor says."""

import pytest

from contact_ddp_ros.ros.monitor import LoopMonitor, Recent


def test_a_report_is_about_the_rounds_since_the_last_one() -> None:
    monitor = LoopMonitor()
    for duration in (0.001, 0.003, 0.002):
        monitor.round(duration, available=0.0025)
    report = monitor.report()
    assert report.mean == pytest.approx(0.002)
    assert (report.longest, report.overruns, report.total_overruns) == (0.003, 1, 1)
    assert report.rate > 0.0
    later = monitor.report()
    assert (later.rate, later.mean, later.longest, later.overruns, later.total_overruns) == (0.0, 0.0, 0.0, 0, 1)
    assert later.values("solve")["overruns"] == 1


def test_what_was_reported_does_not_count_again() -> None:
    recent = Recent()
    assert [recent.growth(count) for count in (0, 3, 3, 4, 4)] == [0, 3, 0, 1, 0]
