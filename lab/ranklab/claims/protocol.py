"""What is claimed, by which rule it is judged, which arms are compared, and what the searches chose for them."""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ranklab.methods.space import space_of
from ranklab.runs.folders import find_records
from ranklab.runs.parameters import check_known
from ranklab.runs.search import Between

#: By which metric an arm is chosen, unless it says so itself.
CHOOSE = {"retrieval": "mAP@R", "hierarchical_retrieval": "H-AP", "detection": "AP50"}
#: What the records that may judge must have, by the lab; scenes are drawn and not dealt, so that they have no salt.
DEALT = {"train_split": "fit", "test_split": "held_out", "salt": "claims"}
JUDGED = {"retrieval": DEALT, "hierarchical_retrieval": DEALT, "detection": {"test_split": "held_out"}}
RANDOM = "random"


@dataclass(frozen=True)
class Claim:
    """A claim, with its rule, and the parts of the rule as the plan has them; or what is missing to test it."""

    id: str
    family: str
    source: str
    claim: str
    experiment: str
    rule: str
    parts: tuple[Mapping[str, Any], ...] = ()
    missing: str = ""

    @property
    def threshold(self) -> float:
        """What the difference must be larger than, by the rule."""
        found = re.search(r"larger than (0|-1 point)\b", self.rule)
        if found is None:
            raise ValueError(f"rule of {self.id} must say what the difference is larger than, got {self.rule!r}")
        return 0.0 if found[1] == "0" else -0.01

    @property
    def arms(self) -> list[str]:
        """The arms that its parts compare."""
        names: list[str] = []
        for part in self.parts:
            names += [part[key] for key in ("plus", "milder", "of") if key in part]
            names += [*part.get("minus", ()), *part.get("slope", {}).values()]
        return list(dict.fromkeys(names))


@dataclass(frozen=True)
class Arm:
    """One side of a comparison: a method with what is held, searched for and taken over."""

    name: str
    method: str
    lab: str
    choose: str
    hold: Mapping[str, Any] = field(default_factory=dict)
    times: Mapping[str, float] = field(default_factory=dict)
    like: str = ""
    search: tuple[str, ...] = ()
    after: str = ""
    measure: tuple[int, ...] = ()

    @property
    def needs(self) -> list[str]:
        """Arms that come before."""
        return [name for name in (self.like, self.after) if name not in ("", RANDOM)]

    @property
    def searched(self) -> bool:
        return not self.like or bool(self.search)

    @property
    def space(self) -> dict[str, Between]:
        """What is searched for."""
        space = space_of(self.method, without=[*self.hold])
        return {name: between for name, between in space.items() if name in (self.search or space)}


@dataclass(frozen=True)
class Protocol:
    """The arms of a scale, those that others need first."""

    scale: str
    presets: Mapping[str, str]
    trials: int
    seeds: int
    starts: int
    searching: int
    arms: Mapping[str, Arm]
    budget: tuple[str, ...] = ()  #: arms that are trained where none is named, in this order; all if empty

    @property
    def records(self) -> str:
        """The name of the table of its records."""
        return f"claims_{self.scale}.jsonl"

    @property
    def searches(self) -> str:
        """The name of the file of what its searches chose."""
        return f"searches_{self.scale}.json"

    def of(self, claims: Iterable[Claim]) -> list[Claim]:
        """The claims that compare its arms, and those that nothing can test."""
        return [claim for claim in claims if all(name in self.arms for name in claim.arms)]


def read_claims(folder: Path | None = None) -> list[Claim]:
    """Read `claims.yaml` and, for each claim, what `claims_plan.yaml` compares; ValueError for one without either."""
    folder = folder or find_records()
    design = _yaml(folder / "claims_plan.yaml")
    claims = []
    for entry in _yaml(folder / "claims.yaml"):
        parts, missing = design["claims"].get(entry["id"], ()), design["missing"].get(entry["id"], "")
        if not parts and not missing:
            raise ValueError(f"claim {entry['id']!r} must have parts in claims_plan.yaml, or what is missing for it")
        claims.append(Claim(**entry, parts=tuple(parts), missing=missing))
    return claims


def read_protocol(scale: str = "cpu", folder: Path | None = None) -> Protocol:
    """Read the arms of `claims_plan.yaml`; ValueError for an unknown scale, or an arm that needs an unknown one."""
    design = _yaml((folder or find_records()) / "claims_plan.yaml")
    if scale not in design["scales"]:
        raise ValueError(f"scale must be one of {', '.join(design['scales'])}, got {scale!r}")
    given = dict(design["scales"][scale])
    budget = tuple(given.pop("budget", ()))
    arms = read_arms(design["arms"])
    ordered = {name: arms[name] for name in with_needs(arms, arms) if arms[name].lab in given["presets"]}
    return Protocol(scale, **given, arms=ordered, budget=budget)


def read_searches(protocol: Protocol, folder: Path | None = None) -> dict[str, Any]:
    """What the searches of a scale chose: "code", "starts" and "arms" by their names; nothing before there were any."""
    path = (folder or find_records()) / protocol.searches
    if not path.exists():
        return {"code": "", "starts": [], "arms": {}}
    return dict(json.loads(path.read_text(encoding="utf-8")))


def read_arms(entries: Mapping[str, Mapping[str, Any]]) -> dict[str, Arm]:
    """Arms by their names, in the order of the entries."""
    return {name: _arm(name, **entry) for name, entry in entries.items()}


def _arm(name: str, *, lab: str = "retrieval", letters: bool = False, **entry: Any) -> Arm:
    lab = "hierarchical_retrieval" if letters else lab
    lists = {key: tuple(entry.pop(key, ())) for key in ("search", "measure")}
    fields: dict[str, Any] = {"method": name, "lab": lab, "choose": CHOOSE[lab], **entry, **lists}
    return Arm(name, **fields)


def _yaml(path: Path) -> Any:
    import yaml

    return yaml.safe_load(path.read_text(encoding="utf-8"))


def with_needs(names: Iterable[str], arms: Mapping[str, Arm]) -> list[str]:
    """Some arms in their order, each after those that it needs; ValueError for an unknown one."""
    found: list[str] = []
    for name in names:
        check_known("arm", name, arms)
        found += [*with_needs(arms[name].needs, arms), name]
    return list(dict.fromkeys(found))
