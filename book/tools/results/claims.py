"""The parts of the claims page: a figure, a few sentences with numbers, and tables, made from `lab/records`."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from tabulate import tabulate

from rankedu_book.kit import style
from rankedu_lab import claims
from rankedu_lab.claims import BASELINES, LOG, METHODS, STEPS, Long, Result, student

DATA = Path(__file__).resolve().parents[2] / "data"
NAMES: dict[str, str] = yaml.safe_load((DATA / "claims_names.yaml").read_text(encoding="utf-8"))
LABELS = {method: name.removeprefix("the ") for method, name in NAMES.items()}
LOSSES = next(iter(claims.GROUPS))


def blocks(folder: Path) -> dict[str, str]:
    """Return the Markdown of each block by its name, and write the figure to the folder."""
    found, long, wider = claims.shown(claims.results()), claims.long_runs(), claims.long_runs(factors=claims.WIDER)
    drawn = curves(long)
    drawn.savefig(folder / "claims_curves.png", dpi=2 * style.DPI)  # a palette would lose the hue of a thin line
    shown = f"```{{image}} _generated/claims_curves.png\n:alt: {style.description(drawn)}\n```\n\n"
    return {
        "claims_curves": shown + head("claims_caption", found, long),
        **{name: head(name, found, long) for name in ("claims_head", "claims_front")},
        "claims_long": "\n".join(trained(long, metric) for metric in claims.COLUMNS),
        "claims_found": head("claims_found", found, claims.long_runs(factors=claims.FACTORS[:1])),
        "claims_wider": head("claims_wider", found, wider) if len(wider.splits) >= claims.ENOUGH else "",
        "claims_table": table(found, ours=False),
        "claims_questions": table(found, ours=True),
        "claims_reached": reached(long),
        "claims_rules": rules(),
    }


def curves(long: Long) -> Any:
    """Draw the mean of each method over the steps, beside both baselines and the runs of 250 steps."""
    figure, axes = style.figure(1, 2, height=6.2)
    for axis, metric in zip(axes, claims.COLUMNS, strict=True):
        short, values = reach("searched", metric), long.values[metric]
        halves = {method: one.half for (method, _), one in long.answers(metric, LOSSES).items()}
        for k, method in enumerate(METHODS):
            mean, color = np.nanmean(values[method], 0), f"C{k % 7}"
            axis.plot(STEPS, mean, "-" if k < 7 else "--", color=color, label=LABELS[method], linewidth=1.5)
            axis.errorbar(STEPS[-1] + 45 * k, mean[-1], yerr=halves.get(method), color=color, linewidth=1.5)
            if method in short:
                ends = short[method][long.splits].mean()
                axis.plot([250], [ends], "o", color=color, markerfacecolor="none", markersize=6)
        for base, line in zip(BASELINES, (":", "-."), strict=True):
            axis.axhline(values[base][:, 0].mean(), color="0.5", linestyle=line, linewidth=1, label=LABELS[base])
        axis.set(xlabel="step", ylabel=f"{metric}, test characters (points)", xticks=STEPS[1:], ylim=(0, None))
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2, fontsize=12)
    ends = "; ".join(f"{LABELS[method]} {long.at(method):.1f}" for method in (*METHODS, *BASELINES))
    text = f"Learning curves of nine losses over 2,500 steps, R@1 left and mAP@R right. Mean R@1 at the end: {ends}."
    return style.describe(figure, text)


def reach(settings: str, metric: str) -> dict[str, Any]:
    """Return what each method reaches after 250 steps, one value per split, in points."""
    rows = [row for row in claims.read("claims_reached") if row["settings"] == settings]
    return {m: np.array([float(r[metric]) for r in rows if r["method"] == m]) for m in {r["method"] for r in rows}}


def compared(answers: Mapping[tuple[str, str], Result]) -> str:
    """List the losses by the answers about them."""
    named = {a: [NAMES[method] for (method, _), one in answers.items() if one.answer == a] for a in claims.ORDER}
    listed = {answer: " and ".join(filter(None, (", ".join(of[:-1]), *of[-1:]))) for answer, of in named.items()}
    return "; ".join(f"*{answer}* for {names}" for answer, names in listed.items() if names)


def head(name: str, found: Mapping[str, Sequence[Result]], long: Long) -> str:
    """The sentences at the head of the claims page, on the front page or below the figure, with their numbers."""
    of = {one.question: one for parts in found.values() for one in parts}
    batches = claims.read("claims_batches")
    leader = max(claims.EIGHT, key=long.at)
    numbers: dict[str, Any] = {method: long.at(method) for method in (LOG, *BASELINES)}
    numbers |= {f"of_{n}": np.mean([float(row["mAP"]) for row in batches if row["batch"] == n]) for n in ("32", "all")}
    numbers |= {"margin": of["margin-is-essential, from a start, R@1"], "fast_ap": of["recall-above-fastap, R@1"]}
    numbers |= {"happier": of["happier-above-fine, H-AP"], "leader": NAMES[leader], "highest": long.at(leader)}
    numbers |= {"splits": len(long.splits), "complete": long.complete, "made": f"{long.made} of {claims.ASKED}"}
    numbers["rates"] = "three learning rates" if long.rates > 1 else "one learning rate"
    numbers["largest"] = f"{long.largest} of {len(long.splits) * len(METHODS)}"
    numbers["compared"] = compared(long.answers("R@1", LOSSES))
    return (DATA / f"{name}.md").read_text(encoding="utf-8").format(**numbers)


def trained(long: Long, metric: str) -> str:
    """Return a table of the three groups of questions, one row per loss, the highest mean first."""
    cells: dict[str, dict[str, str]] = {method: {} for method in (*METHODS, *BASELINES)}
    for group in claims.GROUPS:
        for pair, one in long.answers(metric, group).items():
            cells[pair[0 if group == LOSSES else 1]][group] = f"{one}, {one.answer}"
    order = sorted(cells, key=lambda method: -long.at(method, metric))
    columns = {method: {group: cells[method].get(group, "") for group in claims.GROUPS} for method in order}
    return _right([{"loss": LABELS[m], metric: f"{long.at(m, metric):.1f}", **columns[m]} for m in order])


def table(found: Mapping[str, Sequence[Result]], ours: bool) -> str:
    """Return the claims of papers by verdict, or our own questions by answer, each with all parts that were tested."""
    rows = []
    for name, paper in claims.quotations().items():
        if ours == (paper["in_paper"] == "yes"):
            continue
        parts, link = found[name], f"(claims-protocol.md#claim-{name})"
        answers = list(dict.fromkeys(one.answer for one in parts)) if ours else [claims.verdict(parts)]
        asked = {"answer": f"**{', '.join(answers)}**", "asked": f"[{paper['ours']}]{link}"}
        if not ours:
            words = f"{asked['asked']} “{paper['words']}” {paper['paper']}, {paper['place']}"
            asked = {"verdict": asked["answer"], "the claim, and the paper's words": words}
        cells = "<br>".join(_part(one, ours, len(parts)) for one in parts)
        rows.append((claims.ORDER.index(answers[0]), {**asked, "difference": cells}))
    listed = tabulate([row for _, row in sorted(rows, key=lambda row: row[0])], headers="keys", tablefmt="github")
    return f"```{{table}}\n:class: sentences\n\n{listed}\n```\n"


def _part(one: Result, ours: bool, parts: int) -> str:
    about = [one.condition, "one search" * one.first, (one.answer if ours else one.verdict) * (parts > 1)]
    rule = f"rule: above {one.asked:g}".replace("-", "−") * (not ours and one.asked != 0)
    return ", ".join(filter(None, (f"{one} {one.metric}", rule, *about)))


def reached(long: Long) -> str:
    """Return R@1 after 250 steps with searched and with published settings, beside the baselines."""
    searched, published = reach("searched", "R@1"), reach("published", "R@1")
    rows: list[dict[str, object]] = []
    for method in sorted(searched, key=lambda method: -searched[method].mean()):
        row = {"loss": LABELS[method], "searched": f"{searched[method].mean():.1f}"}
        row |= {"published": f"{published[method].mean():.1f}"}
        gain = student(searched[method] - published[method], "R@1")
        against = "–" if method == LOG else student(published[method] - published[LOG], "R@1")
        rows.append({**row, "searched − published": gain, "published, minus the recall loss (log)": against})
    rows += [dict.fromkeys(rows[0], "") | {"loss": LABELS[b], "searched": f"{long.at(b):.1f}"} for b in BASELINES]
    return _right(rows)


def _right(rows: Sequence[Mapping[str, object]]) -> str:
    """Return a table whose columns are on the right, except the first."""
    align = (None, *["right"] * (len(rows[0]) - 1))
    return tabulate(rows, headers="keys", tablefmt="pipe", disable_numparse=True, colalign=align) + "\n"


def rules() -> str:
    """Return every claim with the paper's words, its measurement, and our rules as they were committed."""
    files = [yaml.safe_load((claims.RECORDS / f"{name}.yaml").read_bytes()) for name in ("claims", "deals", "since")]
    experiments = {one["id"]: f"{one['experiment'].capitalize()}. **Rule.** {one['rule']}" for one in files[0]}
    again = [(name, of) for file in files[1:] for family in file["families"].values() for name, of in family.items()]
    lines = []
    for name, one in claims.quotations().items():
        lines += [f"[`{name}`]{{#claim-{name}}}", f": {one['ours']} *{one['paper']}, {one['place']}:* “{one['words']}”"]
        if "also" in one:
            lines[-1] += f" *{one['also']['place']}:* “{one['also']['words']}”"
        asked = "; ".join(_asked(of) for question, of in again if question.split(",")[0] == name)
        parts = {"Measured in the paper": one["metric"], "Difference": one.get("remark")}
        parts |= {"First round": experiments.get(name), "Later rounds": asked}
        lines += [f"\n  **{part}.** {text.rstrip('.')}." for part, text in parts.items() if text] + [""]
    return "\n".join(lines) + "\n"


def _asked(of: Mapping[str, Any]) -> str:
    if "metrics" in of:
        return f"{of['metrics'][0]} minus {of['metrics'][1]}, of `{of['of']}`"
    best = "the best on `val` of " if len(of["minus"]) > 1 else ""
    return f"{of['metric']} of `{of['plus']}` minus {best}{', '.join(f'`{one}`' for one in of['minus'])}"
