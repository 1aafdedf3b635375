"""Results do not show in which order, in how many attempts or where the work was done."""

from dataclasses import dataclass

import pytest
from rich.console import Console

from contact_ddp_ros.base.errors import BenchmarkError
from contact_ddp_ros.runs.study.batch import Journal, run_all
from test.runs.study.serial import Serial


@dataclass(frozen=True)
class Square:
    number: int

    @property
    def name(self) -> str:
        return f"{self.number}²"

    @property
    def cost(self) -> float:
        return float(self.number)


JOBS = [Square(number) for number in (2, 7, 1, 5)]
SQUARES = [4, 49, 1, 25]


def square(job: Square) -> int:
    return job.number**2


@pytest.fixture
def terminal(tmp_path):
    with (tmp_path / "screen").open("w") as screen:
        yield Console(file=screen)


@pytest.mark.parametrize("backwards", [False, True])
def test_results_are_in_the_order_of_the_jobs(terminal, backwards):
    assert run_all(square, JOBS, Serial(backwards), terminal) == SQUARES


def test_the_longest_begin_first(terminal):
    begun = []
    run_all(begun.append, JOBS, Serial(), terminal)
    assert [job.number for job in begun] == [7, 5, 2, 1]


@pytest.mark.parametrize("interrupt", [0, 1, 3])
def test_a_resumed_run_gives_what_an_uninterrupted_one_gives(tmp_path, terminal, interrupt):
    worked: list[Square] = []

    def counted(job: Square) -> int:
        worked.append(job)
        return square(job)

    with Journal.create(tmp_path, {}) as journal, pytest.raises(KeyboardInterrupt):
        run_all(counted, JOBS, Serial(interrupt=interrupt), terminal, journal)
    with Journal.resume(tmp_path) as journal:
        assert run_all(counted, JOBS, Serial(backwards=True), terminal, journal) == SQUARES
    assert sorted(job.number for job in worked) == [1, 2, 5, 7]


def test_names_must_tell_jobs_apart(terminal):
    with pytest.raises(BenchmarkError, match="share their names"):
        run_all(square, [Square(1), Square(1)], Serial(), terminal)


def test_a_journal_of_other_jobs_is_refused(tmp_path, terminal):
    with Journal.create(tmp_path, {}) as journal:
        journal.add("9²", 81)
        with pytest.raises(BenchmarkError, match="9²"):
            run_all(square, JOBS, Serial(), terminal, journal)


def test_without_a_terminal_lines_tell_the_progress(tmp_path):
    path = tmp_path / "lines"
    with path.open("w") as screen:
        run_all(square, JOBS, Serial(), Console(file=screen))
    assert path.read_text().splitlines() == ["4 runs ...", "4 runs: 47 %", "4 runs: 80 %"]
