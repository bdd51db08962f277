# SPDX-License-Identifier: Apache-2.0
import json
from collections import Counter
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

from tools.image.profile import profile, steps_table
from tools.image.quality_facts import facts, main
from tools.image.summary import summary
from tools.image.trace import trace
from tools.simulator.counts import Counts, Region
from tools.simulator.silicon import Calibration, MeasuredChip
from tools.simulator.simulate import Run

_CONSOLE = "PL:STAT images 450\nnot PL:STAT x 1\nPL:STAT correct on device 441\nPL:PASS\n"

_SIZE: dict[str, Any] = {
    "name": "app",
    "board": "microbit",
    "core": "cortex-m0",
    "memories": [
        {"name": "flash", "kind": "flash", "size": 262144, "used": 65536},
        {"name": "ram", "kind": "ram", "size": 16384, "used": 1024},
        {"name": "other", "kind": "ram", "size": 16384, "used": 0},
    ],
    "stack": {"size": 2048, "bound": 700},
}


def _run(regions: dict[int, Region], plans: dict[int, dict[int, Region]] | None = None) -> Run:
    return Run(_CONSOLE, 0, "", Counts(total=9, regions=regions, plans=plans or {}), 1.0)


def test_the_table_at_the_end() -> None:
    run = _run({0: Region(entries=450, instructions=450 * 123456)})
    facts = {"accuracy": 0.98, "model": "digits"}
    assert summary(run, _SIZE, facts, profile(run, _SIZE, [])).splitlines() == [
        "app on microbit (cortex-m0), simulated",
        "  accuracy                    98.00%",
        "  model                       digits",
        "  images                      450",
        "  correct on device           441 (98.00%)",
        "  instructions per inference  123,456",
        "  flash (flash)               65,536 of 262,144 bytes (25.0%)",
        "  ram (ram)                   1,024 of 16,384 bytes (6.2%)",
        "  of that the stack           at most 700 of 2,048 bytes",
    ]


def test_instructions_of_the_npus_model_are_said_to_be_in_it() -> None:
    run = _run({0: Region(entries=1, instructions=77)})
    text = summary(run, _SIZE, {}, profile(run, _SIZE, []), modelled="ethos-u55-128")
    assert "instructions per inference  77, with those of the NPU's model" in text


def _report(sqnr_db: float | None, accuracy: dict[str, float] | None) -> dict[str, Any]:
    output = {"name": "y", "sqnr_db": sqnr_db, "cosine": None, "agreement": 0.9956}
    better = {"name": "z", "sqnr_db": 50.0, "cosine": 1.0, "agreement": None}
    quality: dict[str, Any] = {"samples": 1450, "held_out": True, "outputs": [output, better]}
    quality |= {"accuracy": accuracy, "metric": None}
    report = {"quality": quality, "warnings": [], "delegates": []}
    return report | {"quantization": "int8", "ops": []}


def test_the_table_says_how_good_the_models_are(tmp_path: Path) -> None:
    labelled = _report(34.42, {"float32": 0.99, "int8": 0.98})
    assert facts({"digits": labelled}) == {
        "accuracy in float32": 0.99,
        "accuracy in int8, on the host": 0.98,
        "SQNR against float32": "34.4 dB on 1,450 held-out samples",
        "agreement with float32": "99.56% on 1,450 held-out samples",
    }
    mixed = facts({"digits": labelled | {"quantization": "mixed"}})
    assert mixed["accuracy quantized, on the host"] == 0.98
    doubtful = _report(None, None) | {"warnings": [{}, {}]}
    assert facts({"a": doubtful, "b": labelled})["a: warnings of lowering"] == 2
    layers = {"layers": [{"cycles": 30}, {"cycles": 4}]}
    on_npu = {"delegates": [{"report": r} for r in ({"cycles": 500, **layers}, layers, {})]}
    assert facts({"digits": labelled | on_npu})["NPU cycles, estimated"] == 534
    left = {"delegate": None, "not_on": {"npu": "the core is faster"}}
    ops = [left, {"delegate": 0, "not_on": {}}, {"delegate": 1, "not_on": {"npu": "no such op"}}]
    told = facts({"digits": labelled | {"ops": ops}})["ops not on the NPU"]
    assert told == "1 of 3: .report has the reasons"
    report, output = tmp_path / "digits.report.json", tmp_path / "facts.json"
    estimate = tmp_path / "theirs.npu.json"
    report.write_text(json.dumps(labelled))
    estimate.write_text(json.dumps(_THEIRS))
    main(["", str(output), str(report), str(estimate)])
    assert json.loads(output.read_text()) == facts({"digits": labelled}, {"theirs": _THEIRS})


_THEIRS = {"npu": "ethos-u55-128", "cycles": 77, "left": 3}


def test_the_table_of_models_that_were_lowered_elsewhere() -> None:
    cycles, left = "NPU cycles, estimated", "ops not on the NPU"
    assert facts({}, {"a": _THEIRS}) == {cycles: 77, left: "3, as it was lowered elsewhere"}
    unknown = {"npu": "ethos-u85-256", "cycles": None, "left": 0}
    told = "not known: there is no model of ethos-u85-256"
    assert facts({}, {"a": unknown, "b": {}}) == {f"a: {cycles}": told}
    both = facts({"ours": _report(None, None)}, {"theirs": _THEIRS})
    assert both[f"theirs: {cycles}"] == 77


def test_what_was_not_measured_is_not_in_the_table() -> None:
    size = _SIZE | {"stack": {"size": 2048, "bound": None}}
    run = Run("PL:PASS\n", 0, "", Counts(total=9), 1.0)
    text = summary(run, size, {}, profile(run, size, []))
    assert "instructions" not in text
    assert "no bound of 2,048 bytes" in text


def test_steps() -> None:
    names = {"module": "a (Conv2d)", "function": "pl_f"}
    plan = {
        "name": "plan",
        "steps": [
            {"step": 1, "id": "0", "op": "pl::conv2d", "outputs": ["a int8", "b int8"], **names},
            {"step": 2, "id": "3", "op": "pl::linear", "outputs": ["c int8"], **names},
        ],
    }
    run = _run({0: Region(2, 900)}, {64: {1: Region(2, 600), 2: Region(2, 200)}})
    counted = profile(run, _SIZE, [plan])
    schema = json.loads(Path("tools/image/profile.schema.json").read_text())
    assert not list(Draft202012Validator(schema).iter_errors(counted))
    assert (counted["inferences"], counted["instructions"]) == (2, 450)
    assert [(s["id"], s["instructions"]) for s in counted["steps"]] == [("0", 300), ("3", 100)]
    assert [line.split() for line in steps_table(counted).splitlines()] == [
        ["instructions", "step", "op", "from"],
        ["300", "pl::conv2d", "0", "a", "(Conv2d)"],
        ["100", "pl::linear", "3", "a", "(Conv2d)"],
    ]
    assert steps_table(profile(_run({0: Region(2, 900)}), _SIZE, [plan])) == ""


def test_steps_of_several_plans() -> None:
    names = {"module": "a (Conv2d)", "function": "pl_f", "op": "pl::conv2d", "id": "0", "step": 1}
    plans = [{"name": name, "steps": [names]} for name in ("ears", "eyes", "idle")]
    steps = {64: {1: Region(2, 600)}, 32: {1: Region(1, 50)}, 16: {1: Region(9, 9)}}
    linked = {"ears": 32, "eyes": 64, "idle": 128, "main": 16}
    counted = profile(_run({}, steps), _SIZE, plans, linked)
    schema = json.loads(Path("tools/image/profile.schema.json").read_text())
    assert not list(Draft202012Validator(schema).iter_errors(counted))
    assert [(s["plan"], s["instructions"]) for s in counted["steps"]] == [
        ("ears", 50),
        ("eyes", 300),
    ]
    *lines, last = steps_table(counted).splitlines()
    assert last.endswith("the image's `plan` does not name: 1")
    assert [line.split() for line in lines] == [
        ["plan", "instructions", "step", "op", "from"],
        ["ears", "50", "pl::conv2d", "0", "a", "(Conv2d)"],
        ["eyes", "300", "pl::conv2d", "0", "a", "(Conv2d)"],
    ]
    slices = [e for e in trace(counted)["traceEvents"] if e["ph"] == "X"]
    assert [(e["tid"], e["ts"], e["dur"]) for e in slices] == [(1, 0, 50), (2, 0, 300)]


_STEP = {"step": 1, "id": "0", "op": "pl::conv2d", "module": "a (Conv2d)", "function": "pl_f"}


def test_a_plan_in_a_slot_and_one_that_is_not_named() -> None:
    steps = {64: {1: Region(2, 600)}, 9000: {1: Region(2, 80)}}
    schema = json.loads(Path("tools/image/profile.schema.json").read_text())
    for names, linked, found in [
        (["a"], {"a": 64, "main": 16}, [("a", 300)]),
        (["loaded"], {"a": 64, "main": 16}, [("loaded", 40)]),
        (["a", "loaded"], {"a": 64}, [("a", 300), ("loaded", 40)]),
        (["b"], {"a": 64, "b": 72}, []),
        (["b", "c"], {}, []),
    ]:
        plans = [{"name": name, "steps": [_STEP]} for name in names]
        counted = profile(_run({}, steps), _SIZE, plans, linked)
        assert not list(Draft202012Validator(schema).iter_errors(counted))
        assert [(s["plan"], s["instructions"]) for s in counted["steps"]] == found
        assert counted.get("unnamed_plans", 0) == 2 - len(found)
        said = steps_table(counted).splitlines()
        assert len(said) == (2 + len(found) if len(found) == 1 else 3 if found else 1)
        assert ("does not name" in said[-1]) == (len(found) < 2)


def _region(entries: int, own: int, inner: int = 0) -> Region:
    return Region(entries, own + inner, Counter({4: own}))


def _estimated(
    regions: dict[int, Region],
    plans: dict[int, dict[int, Region]],
    estimates: dict[tuple[int, int], float],
    measured: Calibration | None = None,
) -> tuple[dict[str, Any], str]:
    run = _run(regions, plans)
    named = [{"name": name, "steps": [_STEP]} for name in ("a", "b")]
    counted = profile(run, _SIZE, named, {"a": 64, "b": 32}, estimates, measured)
    schema = json.loads(Path("tools/image/profile.schema.json").read_text())
    assert not list(Draft202012Validator(schema).iter_errors(counted))
    return counted, summary(run, _SIZE, {}, counted)


def test_estimated_cycles() -> None:
    """The inference's cycles are the sum of its regions, each without the inner ones."""
    regions, plans = {0: _region(2, 300, 600)}, {64: {1: _region(2, 600)}}
    estimates = {(0, 0): 400.4, (64, 1): 900.2}
    counted, text = _estimated(regions, plans, estimates)
    assert counted["cycles_estimate"] == 650
    assert counted["steps"][0]["cycles_estimate"] == 450
    assert [line.split() for line in steps_table(counted).splitlines()] == [
        ["instructions", "cycles,", "estimated", "step", "op", "from"],
        ["300", "450", "pl::conv2d", "0", "a", "(Conv2d)"],
    ]
    assert "  cycles per inference        650, estimated; no chip of this core was measured" in text
    # The program's own region outside of the inference does not count; a region inside counts.
    beside = regions | {7: _region(2, 50)}
    assert _estimated(beside, plans, estimates | {(0, 7): 80.0})[0]["cycles_estimate"] == 650
    inside = {0: _region(2, 300, 650), 7: _region(2, 50)}
    assert _estimated(inside, plans, estimates | {(0, 7): 80.0})[0]["cycles_estimate"] == 690
    # Here it is unknown how many of the step's executions were inside the inference.
    outside = {64: {1: _region(3, 900)}}
    counted, text = _estimated(regions, outside, estimates)
    assert "cycles_estimate" not in counted and "cycles per inference" not in text


def test_time_and_energy_of_a_measured_chip() -> None:
    regions, plans = {0: _region(2, 300, 600)}, {64: {1: _region(2, 600)}}
    estimates = {(0, 0): 4e5, (64, 1): 8e5}
    chip = MeasuredChip("X1", "cortex-m0", 120_000_000, picojoules=(190, 210))
    measured = Calibration(chip, 1.1, 0.071, 8, {})
    counted, text = _estimated(regions, plans, estimates, measured)
    assert counted["estimated_for"] == {
        "chip": "X1",
        "clock_hz": 120_000_000,
        "error": 0.071,
        "milliseconds": 5.0,
        "microjoules": 120.0,
        "energy_error": 0.121,
    }
    assert steps_table(counted).splitlines()[0].split()[1:5] == ["cycles", "±", "8", "%,"]
    rows = [line.split(maxsplit=1) for line in text.splitlines()]
    assert ["cycles", "per inference        600,000 ± 8 %, estimated for X1"] in rows
    assert ["time", "5 ms ± 8 %, estimated (X1, 120 MHz)"] in rows
    assert ["energy", "120 µJ ± 13 %, estimated"] in rows
    unknown = Calibration(MeasuredChip("X2", "cortex-m0", 1_000_000), 1, 0.05, 4, {})
    counted, text = _estimated(regions, plans, estimates, unknown)
    assert counted["estimated_for"]["milliseconds"] == 600 and "energy" not in text


def test_a_step_that_runs_another_plan_has_no_estimate_of_its_own() -> None:
    plans = {64: {1: _region(1, 10, 90)}, 32: {1: _region(1, 90)}}
    estimates = {(0, 0): 5.0, (64, 1): 20.0, (32, 1): 100.0}
    counted, _ = _estimated({0: _region(1, 4, 100)}, plans, estimates)
    assert counted["cycles_estimate"] == 125
    assert [step.get("cycles_estimate") for step in counted["steps"]] == [None, 100]
    outer = steps_table(counted).splitlines()[1].split()
    assert outer[:3] == ["a", "100", "-"]
