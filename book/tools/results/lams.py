"""The λ that the data ask for while a loss of the claims trains, beside the λ that its search found."""

import json
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from torch.nn.modules.module import register_module_forward_pre_hook
from tqdm import tqdm

from rankedu.files import written
from rankedu.losses import OnEmbeddings
from rankedu.rankers import suggest_lam
from ranklab.claims import read_protocol, read_searches
from ranklab.detections import OnProposals
from ranklab.runs.planning import plan

RECORD = Path(__file__).resolve().parents[2] / "data" / "lams.json"
#: Where a network begins that knows other letters: one of the starts in `lab/records/weights`.
START = "sha256:14cd1da716dab862"


def main() -> None:
    """Train a network for each search that is missing, and write after each."""
    record = json.loads(RECORD.read_text(encoding="utf-8")) if RECORD.exists() else {}
    for scale in ("detection", "cpu"):
        protocol = read_protocol(scale)
        for name, found in tqdm(read_searches(protocol)["arms"].items()):
            arm, chosen = protocol.arms[name], found["parameters"]
            if arm.searched and "lam" in chosen and name not in record:
                preset = protocol.presets[arm.lab]
                usual = plan(arm.lab, preset=preset).parameters
                sizes = {size: round(usual[size] * factor) for size, factor in arm.times.items()}
                start = START if protocol.starts and arm.after != "random" else ""
                given = {**chosen, "loss": arm.method, **sizes, **arm.hold, "seed": 0, "weights": start}
                seen = asked(arm.lab, plan(arm.lab, preset=preset, parameters=given).parameters)
                values = [chosen["lam"], seen[0], *(np.median(part) for part in np.array_split(seen, 4))]
                record[name] = [float(f"{value:.3g}") for value in values]
                lines = (f" {json.dumps(arm, ensure_ascii=False)}: {row}" for arm, row in record.items())
                with written(RECORD) as part:
                    part.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def asked(lab: str, parameters: dict[str, Any]) -> list[float]:
    """What each batch of a training asks for; where nothing stands wrong, nothing is asked."""
    seen, looking = list[float](), []

    def look(loss: Any, given: tuple[Any, ...]) -> None:
        if looking or not isinstance(loss, OnEmbeddings | OnProposals):
            return
        looking.append(loss)  # who suggests calls the loss again
        try:
            seen.append(suggest_lam(loss, *given))
        except ValueError as error:
            if "under an irrelevant one" not in str(error):
                raise
        looking.clear()

    with register_module_forward_pre_hook(look), TemporaryDirectory() as folder:
        import_module(f"ranklab.experiments.{lab}").run(parameters, folder, progress=False)
    return seen


def markdown() -> str:
    """A row a search; bold is within a factor of three of what was found; then how many are, and why no more."""
    record = json.loads(RECORD.read_text(encoding="utf-8"))
    lines = ["| search | λ found | first batch | 1st quarter | 2nd | 3rd | 4th |"]
    lines.append("|---|---:|---:|---:|---:|---:|---:|")
    for name, (found, *values) in record.items():
        told = [f"{value:.0f}" if value >= 10 else f"{value:.2g}" for value in (found, *values)]
        cells = [
            f"**{text}**" if 1 / 3 <= value / found <= 3 else text for text, value in zip(told[1:], values, strict=True)
        ]
        lines.append(f"| {name} | {told[0]} | {' | '.join(cells)} |")
    wide = sum(max(row[1:]) > 9 * min(row[1:]) for row in record.values())
    more = f"In {wide} of them the least and the most are more than a factor of nine apart: no fixed λ is near both."
    near = [sum(1 / 3 <= row[at] / row[0] <= 3 for row in record.values()) for at in range(1, 6)]
    above, below = sum(row[1] > row[0] for row in record.values()), sum(row[5] < row[0] for row in record.values())
    said = (
        "`BlackboxRanker()` takes λ from the data. A search finds another one: of "
        f"{len(record)} that were searched for, {above} are smaller than what the data ask for at the first batch, and "
        f"{below} larger than in the last quarter; at no time are more than {max(near)} within a factor of three of it."
    )
    return "\n".join([*lines, "", f"{said} {more}", ""])
