"""Tables and figures of speed: printed as they are printed, told to be missing without a record, with one beside it."""

import json

from tools.results import papers, papers_page, papers_speed

from ranklab.runs import Record
from ranklab.runs.records import flatten


def made_up(preset="speed_cpu", **changed):
    """A run in which ours is 10 times faster than the transcription, and 10⁸ of it was not tried."""
    ours = {str(10**k): {"seconds": 10.0 ** (k - 8), "rounds": 3} for k in range(5, 9)}
    lists = {"ours": ours, "transcription": {k: one | {"seconds": 10 * one["seconds"]} for k, one in ours.items()}}
    lists["transcription"][str(10**8)] = {"seconds": None, "expected bytes": 5e9}
    lists["ours"][str(10**7)]["bytes a score"] = 15.2
    at_112 = lambda seconds: {"112": {"seconds": seconds}}  # noqa: E731
    exponents = {"n": 1.04, "n margin": 0.02, "n claimed": 1.08, "p": 0.01, "p margin": 0.03, "p claimed": -1e-15}
    metrics = {
        "long lists": {"AP": lists, "limit": {"one np.sort": {str(10**6): {"seconds": 0.01}}}},
        "growth": {"RaMBO": {"": {"0": {**exponents, "from": 2e5, "to": 2e6, "seconds": 0.05}}}},
        "backbone": {"backbone": {"resnet50": at_112(40.0)}, "FastAP": {"ours": at_112(0.2)}},
        "batches": {"FastAP": {who: {"128": {"seconds": 0.002}} for who in ("ours", "transcription")}},
    }
    about = {"device": "abacus, 2 cores", "threads": 1}, {"torch": "2.13.0", "numpy": "2.4.6"}, None, "2026"
    parameters = {**papers.preset(preset), **changed}
    return Record("speed", preset, preset, parameters, flatten({"cpu": metrics}), 600.0, *about)


def lines(text):
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line[:1] == "|"]


def test_the_records_stand_beside_what_is_printed(tmp_path, monkeypatch):
    gpu = {"device": "cuda", "part": "long lists", "work": "AP", "contender": "ours", "size": 10**8, "seconds": 0.19}
    about = {"machine": "abacus", "versions": {"torch": "2.11", "cuda": "13.0"}, "missing": [], "seconds": 420.0}
    (tmp_path / "speed_gpu.json").write_text(json.dumps(about | {"rows": [gpu | {"note": ""}]}))
    monkeypatch.setattr(papers_speed, "GPU", tmp_path / "speed_gpu.json")
    made = papers_speed.blocks([made_up()])
    found = {name: lines(text) for name, text in made.items()}
    assert found["rambo_tab_6"][2][2:] == ["33 ms", "331 ms", "3.86 s", "36.4 s", "–"]
    assert [line for line in found["rambo_tab_6"] if line[1] == "CPU, here"] == [
        ["AP, ours", "CPU, here", "1.00 ms", "10.0 ms", "100 ms", "1.00 s", "15"],
        ["AP, transcription", "CPU, here", "10.0 ms", "100 ms", "1.00 s", "not tried (5 GiB)", "–"],
        ["one np.sort", "CPU, here", "–", "10.0 ms", "–", "–", "–"],
    ]
    growth = ["1.04 ± 0.02 (formula: 1.08)", "0.01 ± 0.03 (formula: 0.00)", "50.0 ms at 2,000,000"]
    assert growth in [line[3:] for line in found["rambo_tab_1"] if line[0] == "RaMBO"]
    for name, line in (
        ("rambo_tab_6", ["AP, ours", "GPU, here", "–", "–", "–", "190 ms", "–"]),
        ("rambo_tab_6", ["AP", "transcription", "CPU", "0.10 ahead", "0.10 ahead", "0.10 ahead", "–"]),
        ("rambo_tab_6", ["AP", "one np.sort", "CPU", "–", "1.0 level", "–", "–"]),
        ("smooth_ap_tab_s2", ["backbone", "resnet50, CPU", "–", "40.0 s", ""]),
        ("smooth_ap_tab_s2", ["FastAP", "ours, CPU", "–", "200 ms", "0.5 %"]),
        ("speed_batches", ["CPU", "FastAP", "ours", "2.00 ms"]),
        ("speed_batches", ["FastAP", "transcription", "CPU", "1.0 level"]),
    ):
        assert line in found[name]
    assert "abacus; torch 2.11, CUDA 13.0; 7 min" in made["speed_gpu"]
    assert "Of 3 ratios to rivals we are ahead in 3; of 1 to a limit we are level in 1." in made["rambo_tab_6"]
    assert "abacus, 2 cores; 1 thread; torch 2.13.0, NumPy 2.4.6; revision unknown; 10 min" in made["speed_record"]


def test_the_page_includes_every_block():
    text = (papers.ROOT / "book" / "results.md").read_text(encoding="utf-8")
    assert set(papers_speed.blocks([])) <= set(papers_page.blocks())
    assert all(f"_generated/{name}.md" in text for name in papers_page.blocks())
