"""What every benchmark does with its findings, shown by one that measures nothing."""

import json
from dataclasses import replace

import pytest

from benchmarks.benchmark import Benchmark, Findings, Run, add_seed, at_least, count
from benchmarks.output import RECORD_FILE, Metric, new_table
from contact_ddp_ros.base.errors import ParameterError


def measure(run: Run) -> Findings:
    table = new_table("Runs", "run", "speed")
    table.add_row("first", "0.5")
    return Findings(
        settings={"quick": run.options.quick},
        results={"more": (1, 2)},
        title="Targets",
        metrics=[Metric("slow", 3.0, 2.0)],
        tables=[table],
        remarks=["noticed"],
        drawings={"drawn.png": lambda path: path.write_text("drawn")},
        exit_code=1,
    )


FAKE = Benchmark("fake", "Measures nothing.\n\nAt all.", "even less", measure)


def test_findings_are_saved_printed_and_drawn(tmp_path, capsys) -> None:
    folder = tmp_path / "new"
    assert FAKE.main(["--quick", "--out", str(folder)]) == 1
    record = json.loads((folder / RECORD_FILE).read_text())
    assert record["benchmark"] == "fake"
    assert record["settings"] == {"quick": True}
    assert record["more"] == [1, 2]
    assert record["figures"][0]["met"] is False
    assert (folder / "drawn.png").read_text() == "drawn"
    printed = capsys.readouterr().out
    places = [printed.index(word) for word in ("Runs", "Targets", "missed", "noticed", f"Saved in {folder}")]
    assert places == sorted(places)


def test_a_benchmark_without_targets_has_no_table_and_no_entry_for_them(tmp_path, capsys) -> None:
    plain = replace(FAKE, measure=lambda run: replace(measure(run), metrics=None))
    plain.main(["--out", str(tmp_path / "new")])
    assert "figures" not in json.loads((tmp_path / "new" / RECORD_FILE).read_text())
    assert "target" not in capsys.readouterr().out


def test_options_are_checked_before_a_folder_is_made(tmp_path) -> None:
    def check(options) -> None:
        raise ParameterError(f"--quick is {options.quick}")

    with pytest.raises(ParameterError, match="--quick is False"):
        replace(FAKE, check=check).main(["--out", str(tmp_path / "new")])
    assert not (tmp_path / "new").exists()


def test_a_folder_that_holds_something_is_refused_unless_the_run_goes_on_there(tmp_path, capsys) -> None:
    (tmp_path / "kept").write_text("kept")
    with pytest.raises(ParameterError, match="not an empty folder"):
        FAKE.main(["--out", str(tmp_path)])
    with pytest.raises(SystemExit):
        FAKE.main(["--resume", str(tmp_path)])
    resumable = replace(FAKE, resumable=True)
    assert resumable.main(["--resume", str(tmp_path)]) == 1
    assert (tmp_path / RECORD_FILE).exists()
    with pytest.raises(SystemExit):
        resumable.main(["--resume", str(tmp_path), "--out", str(tmp_path / "other")])
    assert "not allowed with" in capsys.readouterr().err


def test_options_of_its_own_are_named_with_what_is_allowed(tmp_path, capsys) -> None:
    def add_options(parser) -> None:
        parser.add_argument("--runs", type=at_least(2))

    fake = replace(FAKE, add_options=add_options, measure=lambda run: Findings({}, {"runs": run.options.runs}))
    fake.main(["--runs", "2", "--out", str(tmp_path / "new")])
    assert json.loads((tmp_path / "new" / RECORD_FILE).read_text())["runs"] == 2
    for word, complaint in (("1", "1 is too small; it must be at least 2"), ("many", "invalid whole_number")):
        with pytest.raises(SystemExit):
            fake.main(["--runs", word])
        assert complaint in capsys.readouterr().err


def test_options_come_from_one_function_or_several(tmp_path, capsys) -> None:
    fake = replace(FAKE, add_options=(count("--runs", 3, "of each"), add_seed), measure=measured_options)
    fake.main(["--seed", "5", "--out", str(tmp_path / "new")])
    record = json.loads((tmp_path / "new" / RECORD_FILE).read_text())
    assert (record["runs"], record["seed"], record["resumes"]) == (3, 5, False)
    with pytest.raises(SystemExit):
        fake.main(["--help"])
    assert "of each (default: 3)" in capsys.readouterr().out


def measured_options(run: Run) -> Findings:
    return Findings({}, {"runs": run.options.runs, "seed": run.options.seed, "resumes": run.resumes})


def test_help_gives_the_first_line_and_what_quick_means(capsys) -> None:
    with pytest.raises(SystemExit):
        FAKE.main(["--help"])
    printed = capsys.readouterr().out
    assert "contact-ddp bench fake" in printed and "Measures nothing." in printed and "even less" in printed
    assert "At all." not in printed
