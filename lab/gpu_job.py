"""Run a lab with a preset by plain papermill, and compare its metrics with the committed band of the preset.

    python lab/gpu_job.py retrieval --preset glyphs_gpu_small --device cuda
    python lab/gpu_job.py retrieval --preset glyphs_quick --device cpu

The executed notebook is `gpu-job/<lab>-<preset>.ipynb`, and the folder of the same name has its results. The band of a
preset is the file of its name in `notebooks/labs/presets/bands/`, with a line `metric: [lowest, highest]` for each
metric. A preset without a band has not been measured yet: the job prints the lines to commit, and fails.
"""

import argparse
import os
import sys
from collections.abc import Mapping
from pathlib import Path

import papermill
import yaml
from papermill.exceptions import PapermillExecutionError

from rankedu_lab.runs import load_result, plan
from rankedu_lab.runs.results import RESULT_FOLDER, flatten
from rankedu_lab.training import pick_device

#: Metrics of these names say how long something took, and are not compared.
TIMES = ("seconds", "share")
#: A proposed band is as wide as this part of the metric on both sides.
WIDTH = 0.1


def outside(metrics: Mapping[str, float], band: Mapping[str, list[float]]) -> list[str]:
    """Name the metrics of a run that are not within their band, a sentence for each.

    Examples
    --------
    >>> outside({"R@1": 0.42}, {"R@1": [0.5, 0.6], "mAP": [0.1, 0.2]})
    ['R@1 is 0.42, and its band is 0.5 to 0.6', 'mAP is missing, and its band is 0.1 to 0.2']
    """
    found = [(name, metrics.get(name), low, high) for name, (low, high) in band.items()]
    return [
        f"{name} is {'missing' if value is None else f'{value:.4g}'}, and its band is {low:g} to {high:g}"
        for name, value, low, high in found
        if value is None or not low <= value <= high
    ]


def proposed(metrics: Mapping[str, float]) -> str:
    """Propose a band around the metrics of one run, as lines of YAML."""
    kept = {name: value for name, value in metrics.items() if not any(word in name for word in TIMES)}
    return "\n".join(
        f'"{name}": [{value * (1 - WIDTH):.3g}, {value * (1 + WIDTH):.3g}]' for name, value in kept.items()
    )


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lab", help="name of the lab, such as retrieval")
    parser.add_argument("--preset", required=True, help="name of the preset, such as glyphs_gpu_small")
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cuda", help="device that must be there")
    parser.add_argument("--out", type=Path, default=Path("gpu-job"), help="folder for notebook and results")
    parser.add_argument("--timeout", type=int, default=36_000, help="seconds that a cell may take")
    asked = parser.parse_args()
    folder = asked.out.resolve() / f"{asked.lab}-{asked.preset}"
    try:
        pick_device(asked.device)
        run = plan(asked.lab, preset=asked.preset)
        device = {"device": asked.device} if "device" in run.parameters else {"devices": [asked.device]}
        if (folder / "result.json").exists():
            raise ValueError(
                f"out must not have a result of this preset, got {folder} (name another folder with --out)"
            )
        folder.mkdir(parents=True, exist_ok=True)
        os.environ[RESULT_FOLDER] = str(folder)  # the kernel has it, too
        papermill.execute_notebook(
            str(run.source),
            f"{folder}.ipynb",
            parameters={**run.parameters, **device},
            progress_bar=False,
            execution_timeout=asked.timeout,
        )
    except (ValueError, PapermillExecutionError) as error:
        print(f"gpu_job: {error}", file=sys.stderr)
        return 2
    result = load_result(folder / "result.json")
    metrics = {name: value for name, value in flatten(result["metrics"]).items() if value is not None}
    machine = ", ".join(f"{name} {value}" for name, value in result["machine"].items())
    print(f"{folder}\n{machine}", *(f"{name}: {value:.4g}" for name, value in metrics.items()), sep="\n")
    band = run.source.parent / "presets" / "bands" / f"{asked.preset}.yaml"
    if not band.exists():
        print(f"{asked.preset} has no band yet. Look at the numbers, and commit {band.name}:\n{proposed(metrics)}")
        return 1
    wrong = outside(metrics, yaml.safe_load(band.read_text(encoding="utf-8")))
    print("\n".join(wrong) or f"All metrics of {band.name} are within their band.")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
