"""Sweeps: checked before anything starts, done once, failures tried twice, nothing lost when they are stopped."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import nullcontext, suppress
from dataclasses import replace
from types import SimpleNamespace

import psutil
import pytest
from jupyter_core.utils import ensure_event_loop
from typer.testing import CliRunner

from rankedu.cli import app
from rankedu_lab.runs import plan, plan_sweep, read_parameters, save_result, sweep, sweeps
from rankedu_lab.runs.runner import lock_run
from rankedu_lab.runs.sweeps import expand, parse_grid, parse_resources, visible_gpus

run = CliRunner().invoke


def test_points_of_a_grid_are_read_as_the_parameters_type_and_checked(where, refused, monkeypatch):
    monkeypatch.setattr(sweeps, "_local", lambda *_: pytest.fail("a cluster was started"))
    declared = read_parameters(where["labs"] / "tiny.ipynb")
    found = parse_grid(["n=1, 2", "kinds=[a,b], [c],[]", "name=x,y=z w", "lr=1e-3"], declared, lab="tiny")
    assert found == {"n": [1, 2], "kinds": [["a", "b"], ["c"], []], "name": ["x", "y=z w"], "lr": [0.001]}
    assert parse_grid(['name="a,b" ,"", c'], declared, lab="tiny") == {"name": ["a,b", "", "c"]}
    assert parse_resources(["GPU=1", "memory=2.5"]) == {"GPU": 1.0, "memory": 2.5}
    wrong = {
        "parameter 'lr' must be float, got 'fast'": {"lr": [0.5, "fast"]},
        r"grid\['lr'\] must be a list of at least one value, got 0.5": {"lr": 0.5},
        r"grid\['name'\] must be a list of at least one value, got 'abc'": {"name": "abc"},
        r"grid\['lr'\] must be a list of at least one value, got \[\]": {"lr": []},
    }
    errors = (ValueError, TypeError)
    refused((lambda grid=grid: sweep("tiny", grid, **where), errors, message) for message, grid in wrong.items())


def options(where):
    return ["--labs", str(where["labs"]), "--runs", str(where["runs"])]


def starts(planned):
    return (planned.folder / "starts").read_text()


def test_on_any_cluster_runs_keep_apart_and_failures_are_tried_twice_and_listed(where, manifest):
    distributed = pytest.importorskip("distributed")
    ensure_event_loop()  # as after a first run in this process; the workers' threads inherit it
    two_at_a_time = {"n_workers": 1, "threads_per_worker": 2, "processes": False, "resources": {"GPU": 2}}
    private = {"protocol": "tcp://", "host": "127.0.0.1", "dashboard_address": None, "memory_limit": None}
    behind = {"scheduler_kwargs": {"dashboard_address": "127.0.0.1:0"}}
    grid = ["--grid", "how=raising,well", "--grid", "kinds=[a,b]", "--seeds", "1"]
    with distributed.LocalCluster(**two_at_a_time, **private, **behind) as cluster:
        elsewhere = ["--scheduler", cluster.scheduler_address, "--resources", "GPU=1", "--preset", "fast"]
        done = run(app, ["sweep", "tiny", *options(where), *grid, *elsewhere])
    points = {"how": ["raising", "well"], "kinds": [["a", "b"]]}
    bad, good = plan_sweep("tiny", points, seeds=1, preset="fast", **where)
    assert done.exit_code == 1 and "1 of 2 runs failed" in done.output and "Traceback" not in done.output
    assert str(bad.notebook) in done.output and "ZeroDivisionError: of its own making" in done.output
    assert starts(bad) == "||" and bad.state() == "failed" and bad.notebook.exists()
    assert starts(good) == "|" and good.skipped and good.result["metrics"] == {"value": 6.0}
    assert manifest(good.folder)["preset"] == "fast" and manifest(good.folder)["parameters"] == good.parameters


@pytest.mark.usefixtures("interruptible")
def test_a_sweep_that_is_stopped_goes_on_and_leaves_no_kernel(where, tmp_path, manifest):
    gate = tmp_path / "gate"
    point = {"grid": {"n": [1, 2]}, "seeds": 1, "parameters": {"gate": str(gate)}}
    first, second = plan_sweep("tiny", **point, **where)
    save_result({"lab": "tiny", "parameters": {}, "metrics": {"value": 7}}, folder=first.folder)
    (first.folder / "manifest.json").write_text('{"status": "completed"}')
    command = ["sweep", "tiny", *options(where), "--grid", "n=1,2", "--seeds", "1", "-p", f"gate={gate}"]

    def interrupt():
        until("the second run has begun", (second.folder / "starts").exists)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt).start()
    with pytest.raises(KeyboardInterrupt, match="stopped with 1 of 2 runs done"):
        sweep("tiny", **point, **where, timeout=60)
    until("its kernel has ended", lambda: not at_work_in(second.folder))
    assert second.state() == "interrupted"

    gate.touch()
    last, none = (run(app, command) for _ in range(2))
    assert last.exit_code == 0 and "Done: 2 of 2 runs, 1 of them now." in last.stdout, last.output
    assert none.exit_code == 0 and "Nothing to do: all 2 runs are done." in none.stdout
    assert starts(second) == "||", "what a run left in its folder is there for the next one"
    assert not (first.folder / "starts").exists(), "what was done is not done again"
    done = sweep("tiny", **point, **where)
    assert [entry.result["metrics"]["value"] for entry in done] == [7, 1.0] and all(entry.skipped for entry in done)
    assert manifest(second.folder)["status"] == "completed"


def test_a_run_that_is_killed_leaves_neither_lock_nor_kernel_and_is_run_again(where, tmp_path, manifest):
    gate = tmp_path / "gate"
    planned = plan("tiny", assignments=["n=2", f"gate={gate}"], **where)
    command = ["run", "tiny", *options(where), "-p", "n=2", "-p", f"gate={gate}"]
    killed = subprocess.Popen([sys.executable, "-m", "rankedu", *command])
    until("the run has begun", lambda: (planned.folder / "starts").exists() or killed.poll() is not None)
    killed.kill()
    assert killed.wait() == -signal.SIGKILL
    until("its kernel has ended", lambda: not at_work_in(planned.folder))
    assert planned.state() == "interrupted"
    gate.touch()
    again = run(app, command)
    assert again.exit_code == 0 and starts(planned) == "||" and manifest(planned.folder)["status"] == "completed"


def until(what, condition):
    end = time.monotonic() + 180
    while not condition():
        assert time.monotonic() < end, f"waited three minutes until {what}"
        time.sleep(0.05)


def at_work_in(folder):
    """Kernels whose current folder it is."""
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            found += [process] * (process.cwd() == str(folder) and process.status() != psutil.STATUS_ZOMBIE)
    return found


def test_a_scheduler_or_a_lab_that_is_not_there_is_not_waited_for(where, monkeypatch, refused):
    (planned,) = plan_sweep("tiny", seeds=1, **where)
    refused([(lambda: sweeps.do_run(planned, None, 60), FileNotFoundError, r"no .*runs: it must be on a file system")])
    where["runs"].mkdir()
    other = replace(planned, parameters=planned.parameters | {"n": 4})
    refused([(lambda: sweeps.do_run(other, None, 60), ValueError, "lab 'tiny' has changed since the sweep began")])
    monkeypatch.setattr(sweeps, "ANSWER", 0.3)
    message = "scheduler must be the address of a Dask scheduler that runs, got"
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        places = [f"tcp://127.0.0.1:{silent.getsockname()[1]}", "tcp://127.0.0.1:1", "127.0.0.1", "nets://x:1"]
        calls = [lambda place=place: sweep("tiny", seeds=1, scheduler=place, **where) for place in places]
        refused((call, ConnectionError, message) for call in calls)
    assert not list(where["runs"].glob("tiny/*"))


def test_seeds_are_three_unless_they_are_named(where):
    points = expand({"n": [1, 2], "lr": [0.5, 2]})
    first = [(0, 1, 0.5), (0, 1, 2), (0, 2, 0.5), (0, 2, 2), (1, 1, 0.5)]
    assert [tuple(point.values()) for point in points[:5]] == first
    assert [point["seed"] for point in expand({"n": [1, 2]})] == [0, 0, 1, 1, 2, 2]
    assert expand({"seed": [5, 7]}) == [{"seed": 5}, {"seed": 7}]
    assert expand({"n": [1]}, given=["seed"]) == [{"n": 1}]
    assert [entry.parameters for entry in plan_sweep("other", **where)] == [{"depth": 1}], "a lab without a seed"


def test_a_dry_run_tells_how_far_each_run_is(where, monkeypatch):
    monkeypatch.setattr(sweeps, "_local", lambda *_: pytest.fail("a cluster was started"))
    planned = plan_sweep("tiny", {"n": [1, 2, 3, 4, 5]}, seeds=1, **where)
    for entry, status in zip(planned[1:], ["running", "running", "timed out", "completed"], strict=True):
        entry.folder.mkdir(parents=True)
        (entry.folder / "manifest.json").write_text(json.dumps({"status": status}))
    with lock_run(planned[1].folder):
        states = [entry.state() for entry in planned]
        done = run(app, ["sweep", "tiny", *options(where), "--grid", "n=1,2,3,4,5", "--seeds", "1", "--dry-run"])
    assert states == ["new", "running", "interrupted", "timed out", "damaged"]
    assert replace(planned[0], skipped=True).state() == "done"
    lines = [f"{planned[0].folder.name}  new          n=1", f"{planned[1].folder.name}  running      n=2"]
    assert done.stdout.splitlines()[:2] == lines and done.stdout.splitlines()[-1] == "0 of 5 runs are done"


def test_each_worker_has_a_gpu_or_its_share_of_the_cores(where, monkeypatch, refused):
    planned = plan_sweep("tiny", {"n": [1, 2]}, seeds=1, parameters={"device": "auto"}, **where)
    started, seen = [], []
    where["runs"].mkdir()

    class Cluster(nullcontext):
        def __init__(self, workers, **options):
            super().__init__()
            started.append((workers, options["env"]["OMP_NUM_THREADS"]))

    monkeypatch.setattr("distributed.LocalCluster", Cluster)
    monkeypatch.setattr("distributed.Client", lambda cluster: nullcontext())
    monkeypatch.setattr("dask.system.CPU_COUNT", 8)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    for runs, workers, gpus in ((12, None, []), (3, None, []), (12, None, ["0", "4"]), (12, 3, ["0"])):
        with sweeps._local(runs, workers, gpus):
            pass
    assert started == [(8, "1"), (3, "2"), (2, "4"), (3, "2")], "no more workers than runs"
    monkeypatch.setattr("torch.cuda.device_count", lambda: 2)
    for visible, expected in (("", ["0", "1"]), ("4,MIG-a,6", ["4", "MIG-a"])):
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
        assert visible_gpus({"auto", "cpu"}) == expected and visible_gpus({"cpu"}) == []
    monkeypatch.setattr(sweeps, "execute", lambda *_, **__: seen.append(os.environ["CUDA_VISIBLE_DEVICES"]))
    for name in range(3):
        monkeypatch.setattr("distributed.get_worker", lambda name=name: SimpleNamespace(name=name))
        sweeps.do_run(planned[0], None, 60, ["4", "MIG-a"])
    assert seen == ["4", "MIG-a", "4"]
    monkeypatch.setattr("torch.cuda.device_count", lambda: 0)
    refused([(lambda: visible_gpus({"cuda"}), ValueError, "device must be available, got 'cuda'")])
    refused([(lambda: visible_gpus({"cuda:1"}), ValueError, "device must be 'cuda' or 'auto' in a sweep")])
