"""The latency benchmark's figures from journeys of known length."""

import json
from pathlib import Path

import pytest

from benchmarks.ros import latency
from benchmarks.ros import latency_probe as probe
from benchmarks.ros.latency_probe import BRIDGE, ITSELF, TOPICS, Journey

MS = 1_000_000


def journeys(rounds: int, samples: int, progress: object) -> dict[str, list[list[Journey]]]:
    """Hops of 0.1, 0.2, 0.3 and 0.4 ms; every tenth word takes three times as long, and one is lost."""

    def journey(i: int) -> Journey:
        f = 3 if i % 10 == 0 else 1
        return Journey(0, f * MS // 10, f * 3 * MS // 10, f * 6 * MS // 10, f * MS)

    through = [[journey(i) for i in range(samples)] for _ in range(rounds)]
    through[0].pop()
    direct = [[Journey(0, commanded=MS // 2)] * samples] * rounds
    return {BRIDGE: through, TOPICS: direct, ITSELF: [[Journey(0, executed=MS // 20)] * samples] * rounds}


def test_hops_and_ways_are_told_apart(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(probe, "measure", journeys)
    assert latency.BENCHMARK.main(["--quick", "--out", str(tmp_path / "out")]) == 0
    record = json.loads((tmp_path / "out" / "benchmark.json").read_text())
    medians = {name: found["p50"] for name, found in record["percentiles"].items()}
    assert [medians[hop] for hop in latency.HOPS] == pytest.approx([0.1, 0.2, 0.3, 0.4])
    assert medians[latency.WHOLE] == pytest.approx(1.0)
    assert record["percentiles"][latency.WHOLE]["p99"] == pytest.approx(3.0)
    figures = {figure["name"].strip(): figure for figure in record["figures"]}
    assert figures["with the bridge / without"]["value"]["median"] == pytest.approx(2.0)
    assert figures["what the bridge adds"]["value"]["median"] == pytest.approx(0.5)
    assert figures["states without an answer"]["value"] == pytest.approx(1.0 / 500.0)
    assert figures[latency.WHOLE]["met"]
    assert (tmp_path / "out" / "latency.png").stat().st_size > 0
