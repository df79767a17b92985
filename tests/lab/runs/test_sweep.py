"""Sweeps: checked before anything starts, done once, failures tried twice, nothing lost when they are stopped."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from dataclasses import replace

import psutil
import pytest
from jupyter_core.utils import ensure_event_loop
from typer.testing import CliRunner

from rankedu.cli import app
from ranklab.runs import clusters, plan_sweep, read_parameters, run_state, save_result, sweep, sweeps
from ranklab.runs.clusters import local_environments, parse_resources
from ranklab.runs.locks import is_locked, lock_run
from ranklab.runs.sweep_plan import expand, parse_grid

PARAMETERS = """\
n: int = 1  # how many
rate: float = 0.5  # how fast
kinds: list[str] = ["a", "b"]  # which
name: str = "x"  # what it is called
gate: str = ""  # file to wait for, if n is 2
device: str = "cpu"  # where
seed: int = 0  # of the draw"""
BODY = """\
import os, time
from pathlib import Path
with open("starts", "a") as file: _ = file.write("|")
print("begun", n)
if name == "bad": raise ZeroDivisionError("of its own making")
while n == 2 and gate and not Path(gate).exists(): time.sleep(0.05)
from ranklab.runs import save_result
_ = save_result({"lab": "tiny", "parameters": {"n": n}, "metrics": {"value": n * rate + seed}})"""
run = CliRunner().invoke


@pytest.fixture
def where(tmp_path, write_lab):
    (tmp_path / "labs" / "presets").mkdir(parents=True)
    (tmp_path / "labs" / "presets" / "fast.yaml").write_text("rate: 2\n")
    write_lab(tmp_path / "labs" / "tiny.ipynb", PARAMETERS, BODY)
    return {"labs": tmp_path / "labs", "runs": tmp_path / "runs"}


@pytest.fixture
def no_cluster(monkeypatch):
    monkeypatch.setattr(sweeps, "_client", lambda *_: pytest.fail("a cluster was started"))


def options(where):
    return ["--labs", str(where["labs"]), "--runs", str(where["runs"])]


def starts(planned):
    return (planned.folder / "starts").read_text()


def test_a_grid_is_run_once_and_then_there_is_nothing_to_do(where, manifest, monkeypatch):
    arguments = ["sweep", "tiny", *options(where), "--grid", "n=1,2", "--seeds", "2"]
    started = run(app, ["sweep", "tiny", *options(where), "--grid", "n=1", "--seeds", "1"])
    assert started.exit_code == 0 and "Done: 1 of 1 runs.\n" in started.stdout, started.output
    first = run(app, [*arguments, "--workers", "2"])
    assert first.exit_code == 0 and "Done: 4 of 4 runs, 3 of them now." in first.stdout, first.output
    planned = plan_sweep("tiny", {"n": [1, 2]}, seeds=2, **where)
    found = [(entry.parameters["seed"], entry.parameters["n"]) for entry in planned]
    assert found == [(0, 1), (0, 2), (1, 1), (1, 2)]
    assert [entry.result["metrics"]["value"] for entry in planned] == [0.5 * n + seed for seed, n in found]
    assert [starts(entry) for entry in planned] == ["|"] * 4 and all(entry.skipped for entry in planned)
    assert {manifest(entry.folder)["status"] for entry in planned} == {"completed"}
    monkeypatch.setattr(sweeps, "_client", lambda *_: pytest.fail("a cluster was started"))
    second = run(app, arguments)
    assert second.exit_code == 0 and "Nothing to do: all 4 runs are done." in second.stdout
    assert [starts(entry) for entry in planned] == ["|"] * 4


def test_the_last_parameter_of_a_grid_changes_fastest(where, no_cluster):
    planned = plan_sweep("tiny", {"n": [1, 2], "rate": [0.5, 2]}, seeds=2, **where)
    found = [(entry.parameters["seed"], entry.parameters["n"], entry.parameters["rate"]) for entry in planned]
    assert found == [(seed, n, rate) for seed in (0, 1) for n in (1, 2) for rate in (0.5, 2)]


@pytest.fixture(scope="module")
def scheduler():
    """A cluster that the sweep did not start, with one worker that does two runs at a time."""
    distributed = pytest.importorskip("distributed")
    ensure_event_loop()  # as after a first run in this process; the workers' threads inherit it
    with distributed.LocalCluster(
        n_workers=1,
        threads_per_worker=2,
        processes=False,
        protocol="tcp://",
        host="127.0.0.1",
        dashboard_address=None,
        scheduler_kwargs={"dashboard_address": "127.0.0.1:0"},
        memory_limit=None,
        resources={"GPU": 2},
    ) as cluster:
        yield cluster.scheduler_address


def test_on_any_cluster_runs_keep_apart_and_failures_are_tried_twice_and_listed(where, manifest, scheduler):
    grid = ["--grid", "name=bad,x", "--grid", "kinds=[a,b]", "--seeds", "1"]
    elsewhere = ["--scheduler", scheduler, "--resources", "GPU=1", "--preset", "fast"]
    done = run(app, ["sweep", "tiny", *options(where), *grid, *elsewhere])
    bad, good = plan_sweep("tiny", {"name": ["bad", "x"], "kinds": [["a", "b"]]}, seeds=1, preset="fast", **where)
    assert done.exit_code == 1 and "1 of 2 runs failed" in done.output and "Traceback" not in done.output
    assert str(bad.notebook) in done.output and "ZeroDivisionError: of its own making" in done.output
    assert starts(bad) == "||" and run_state(bad) == "failed" and bad.notebook.exists()
    assert starts(good) == "|" and good.skipped and good.result["metrics"] == {"value": 2.0}
    assert manifest(good.folder)["preset"] == "fast" and manifest(good.folder)["parameters"] == good.parameters


@pytest.fixture
def interruptible():
    """Ctrl-C is heard, also where a shell has started the tests in the background, which makes it ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_a_sweep_that_is_killed_or_stopped_goes_on_and_leaves_no_kernel(where, tmp_path):
    gate = tmp_path / "gate"
    point = {"grid": {"n": [1, 2]}, "seeds": 1, "parameters": {"gate": str(gate)}}
    first, second = plan_sweep("tiny", **point, **where)
    given = ["--grid", "n=1,2", "--seeds", "1", "-p", f"gate={gate}", "--workers", "2"]

    def half_way(times):
        """The first run is done, and the second has begun."""
        return first.finished() and (second.folder / "starts").exists() and len(starts(second)) == times

    killed = subprocess.Popen([sys.executable, "-m", "rankedu", "sweep", "tiny", *options(where), *given])
    until("the first run is done and the second begun", lambda: half_way(1))
    killed.kill()
    assert killed.wait() == -signal.SIGKILL
    until("the killed sweep's kernel has ended", lambda: not at_work_in(second.folder))
    assert run_state(second) == "interrupted"

    def interrupt():
        until("the second run has begun again", lambda: half_way(2))
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt).start()
    with pytest.raises(KeyboardInterrupt, match="stopped with 1 of 2 runs done"):
        sweep("tiny", **point, **where, timeout=60)
    assert run_state(second) == "interrupted" and not at_work_in(second.folder)

    gate.touch()
    done = sweep("tiny", **point, **where)
    assert [entry.skipped for entry in done] == [True, False] and done[1].result["metrics"] == {"value": 1.0}
    assert starts(first) == "|" and starts(second) == "|||", "what a run left in its folder is there for the next one"


def test_ctrl_c_says_what_to_do(where, monkeypatch):
    def stopped(*_, **__):
        raise KeyboardInterrupt("stopped with 1 of 2 runs done")

    monkeypatch.setattr("ranklab.runs.sweep", stopped)
    done = run(app, ["sweep", "tiny", *options(where)])
    assert done.exit_code == 130 and done.output.endswith("rankedu sweep: stopped with 1 of 2 runs done\n")


def until(what, condition):
    end = time.monotonic() + 180
    while not condition():
        assert time.monotonic() < end, f"waited three minutes until {what}"
        time.sleep(0.05)


def at_work_in(folder):
    """Kernels whose current folder it is."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.cwd() == str(folder) and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process.pid)
        except psutil.Error:
            pass
    return found


def test_a_run_is_left_to_whoever_holds_its_lock(where, monkeypatch):
    (entry,) = plan_sweep("tiny", seeds=1, **where)
    found, begun, client = [], threading.Event(), sweeps._client
    monkeypatch.setattr(sweeps, "_client", lambda *given: begun.set() or client(*given))
    thread = threading.Thread(target=lambda: found.extend(sweep("tiny", seeds=1, **where)))
    with lock_run(entry.folder):
        assert is_locked(entry.folder)
        thread.start()
        assert begun.wait(180), "the sweep has not begun"
        save_result({"lab": "tiny", "parameters": {}, "metrics": {"value": 7}}, folder=entry.folder)
        (entry.folder / "manifest.json").write_text('{"status": "completed"}')
    thread.join(timeout=180)
    assert not thread.is_alive(), "the sweep has not ended"
    assert found[0].result["metrics"] == {"value": 7} and not (entry.folder / "starts").exists()
    assert not is_locked(entry.folder)


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:1", "silent", "127.0.0.1", "nets://x:1"])
def test_a_scheduler_that_is_not_there(where, address, monkeypatch):
    monkeypatch.setattr(clusters, "ANSWER", 0.3)
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        place = f"tcp://127.0.0.1:{other.getsockname()[1]}" if address == "silent" else address
        with pytest.raises(ConnectionError, match="scheduler must be the address of a Dask scheduler that runs, got"):
            sweep("tiny", seeds=1, scheduler=place, **where)
    assert not list(where["runs"].glob("tiny/*"))


BAD = {
    "unknown": (["--grid", "rat=1"], r"parameter 'rat' is unknown to lab 'tiny' (did you mean 'rate'?)"),
    "lab": (["--grid", "rate=1", "--lab", "x"], "No such option"),
    "no_equals": (["--grid", "rate"], "--grid must be followed by name=value,value, got 'rate'"),
    "empty": (["--grid", "rate=1,,2"], "--grid rate must have values with commas between them"),
    "nothing": (["--grid", "name="], "--grid name must have values with commas between them"),
    "quotes": (["--grid", 'name="a'], "--grid name must have values with commas between them"),
    "type": (["--grid", "n=1,x"], "parameter 'n' must be int, got 'x'"),
    "list": (["--grid", "kinds=a,b"], "--grid kinds must have each of its values in brackets"),
    "twice": (["--grid", "n=1", "--grid", "n=2"], "--grid must name a parameter once, got 'n' twice"),
    "same": (["--grid", "rate=1,1.0"], "grid['rate'] must have different values, got 1.0 twice"),
    "both": (
        ["--grid", "n=1,2", "-p", "n=3"],
        "parameter 'n' must be in the grid or be given for all points, got both",
    ),
    "seeds": (["--grid", "seed=1,2", "--seeds", "3"], "seeds must be left out where the grid or the parameters name"),
    "no_seeds": (["--seeds", "0"], "seeds must be >= 1, got 0 (how many;"),
    "preset": (["--preset", "fats"], "preset 'fats' of lab 'tiny' is unknown (did you mean 'fast'?)"),
    "timeout": (["--timeout", "0"], "timeout must be > 0"),
    "workers": (["--workers", "0"], "workers must be >= 1, got 0"),
    "no_workers": (["--workers", "2", "--scheduler", "tcp://x:1"], "workers must be left out with a scheduler"),
    "resources": (["--resources", "GPU"], "--resources must be followed by NAME=NUMBER, got 'GPU'"),
    "no_scheduler": (["--resources", "GPU=1"], "resources are of the workers of a scheduler"),
    "gpu": (["-p", "device=cuda:1"], "device must be 'cuda' or 'auto' in a sweep"),
}


@pytest.mark.parametrize(("arguments", "message"), BAD.values(), ids=BAD)
def test_bad_arguments_stop_before_anything_starts(where, arguments, message):
    done = run(app, ["sweep", "tiny", *options(where), *arguments])
    assert done.exit_code == 2 and message in done.output and "Traceback" not in done.output, done.output
    assert not list(where["runs"].glob("tiny/*"))


@pytest.mark.parametrize(
    ("grid", "error", "message"),
    [
        ({"rate": [0.5, "fast"]}, TypeError, r"parameter 'rate' must be float, got 'fast'"),
        ({"rate": 0.5}, TypeError, r"grid\['rate'\] must be a list of values, got 0.5"),
        ({"name": "abc"}, TypeError, r"grid\['name'\] must be a list of values, got 'abc'"),
        ({"rate": []}, ValueError, r"grid\['rate'\] must have at least one value"),
        ({"rte": [1.0]}, ValueError, r"parameter 'rte' is unknown .*did you mean 'rate'"),
    ],
)
def test_every_point_of_a_grid_is_checked(where, no_cluster, grid, error, message):
    with pytest.raises(error, match=message):
        sweep("tiny", grid, **where)


def test_texts_are_read_as_the_parameters_type(where):
    declared = read_parameters(where["labs"] / "tiny.ipynb")
    found = parse_grid(["n=1, 2", "kinds=[a,b], [c],[]", "name=x,y=z w", "rate=1e-3"], declared, lab="tiny")
    assert found == {"n": [1, 2], "kinds": [["a", "b"], ["c"], []], "name": ["x", "y=z w"], "rate": [0.001]}
    assert parse_grid(['name="a,b" ,"", c'], declared, lab="tiny") == {"name": ["a,b", "", "c"]}
    assert parse_resources(["GPU=1", "memory=2.5"]) == {"GPU": 1.0, "memory": 2.5}


def test_seeds_are_three_unless_they_are_named():
    assert [point["seed"] for point in expand({"n": [1, 2]})] == [0, 0, 1, 1, 2, 2]
    assert expand({"seed": [5, 7]}) == [{"seed": 5}, {"seed": 7}]
    assert expand({"n": [1]}, given=["seed"]) == [{"n": 1}]


def test_a_dry_run_tells_how_far_each_run_is(where, no_cluster):
    grid = {"n": [1, 2, 3, 4, 5]}
    planned = plan_sweep("tiny", grid, seeds=1, **where)
    for entry, status in zip(planned[1:], ["running", "running", "timed out", "completed"], strict=True):
        entry.folder.mkdir(parents=True)
        (entry.folder / "manifest.json").write_text(json.dumps({"status": status}))
    with lock_run(planned[1].folder):
        states = [run_state(entry) for entry in planned]
        done = run(app, ["sweep", "tiny", *options(where), "--grid", "n=1,2,3,4,5", "--seeds", "1", "--dry-run"])
    assert states == ["new", "running", "interrupted", "timed out", "damaged"]
    assert run_state(replace(planned[0], skipped=True)) == "done"
    lines = [f"{planned[0].folder.name}  new          n=1", f"{planned[1].folder.name}  running      n=2"]
    assert done.exit_code == 0 and done.stdout.splitlines()[:2] == lines
    assert done.stdout.splitlines()[-1] == "0 of 5 runs are done"


@pytest.mark.parametrize(
    ("visible", "workers", "expected"),
    [(None, None, ["0", "1"]), ("4,MIG-a,6", None, ["4", "MIG-a"]), (None, 3, ["0", "1", "0"]), ("4,5", 1, ["4"])],
)
def test_each_worker_has_a_gpu(where, monkeypatch, visible, workers, expected):
    monkeypatch.setattr("torch.cuda.device_count", lambda: 2)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    if visible:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    planned = plan_sweep("tiny", {"n": [1, 2]}, seeds=2, parameters={"device": "auto"}, **where)
    found = local_environments(planned, workers)
    assert [own["CUDA_VISIBLE_DEVICES"] for own in found] == expected
    assert all(int(own["OMP_NUM_THREADS"]) >= 1 for own in found)


def test_without_a_gpu_the_cores_are_shared_out(where, monkeypatch):
    monkeypatch.setattr("torch.cuda.device_count", lambda: 0)
    monkeypatch.setattr("dask.system.CPU_COUNT", 8)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    planned = plan_sweep("tiny", {"n": [1, 2]}, seeds=2, parameters={"device": "auto"}, **where)
    assert local_environments(planned) == [{"OMP_NUM_THREADS": "2"}] * 4, "no more workers than runs"
    assert local_environments(planned, 3) == [{"OMP_NUM_THREADS": "2"}] * 3
    monkeypatch.setenv("OMP_NUM_THREADS", "5")
    assert local_environments(planned, 1) == [{"OMP_NUM_THREADS": "5"}]
    asking = plan_sweep("tiny", parameters={"device": "cuda"}, **where)
    with pytest.raises(ValueError, match="device must be available, got 'cuda'"):
        local_environments(asking)
