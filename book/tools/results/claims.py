"""The parts of the claims page: a figure, a few sentences with numbers, and tables, made from `lab/records`."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from rankedu_book.kit import style
from rankedu_lab import claims
from rankedu_lab.claims import CONTRADICTED, OPEN, SMALL, SUPPORTED, Long, Result
from tools.tables import of_rows

DATA = Path(__file__).resolve().parents[2] / "data"
NAMES = {
    "rambo_log": "recall loss (log)",
    "rambo_loglog": "recall loss (log-log)",
    "rambo_ap": "AP loss",
    "smooth_ap": "Smooth-AP",
    "fast_ap": "FastAP",
    "roadmap": "ROADMAP",
    "contrastive": "contrastive",
    "normalized_softmax": "normalised softmax",
    "normalized_softmax_500": "normalised softmax, searched with 500 steps",
    "triplet_semihard": "triplet, semihard",
    "identity": "recall loss (log), identity",
    "recall_at_k_surrogate": "recall at k, two sigmoids",
    "rambo_log without margin": "recall loss (log), no margin",
}


def blocks(folder: Path) -> dict[str, str]:
    """Return the Markdown of each block by its name, and write the figure to the folder."""
    found, long = claims.shown(claims.results()), claims.long_runs()
    drawn = curves(long)
    shown = f"```{{image}} _generated/claims_curves.png\n:alt: {style.description(drawn)}\n```\n"
    (folder / "claims_curves.png").write_bytes(style.png(drawn))
    return {
        "claims_curves": f"{shown}\n{caption(long)}\n",
        **{name: head(name, found, long) for name in ("claims_head", "claims_front")},
        "claims_table": table(found),
        "claims_questions": questions(found),
        "claims_reached": reached(long),
        "claims_rules": rules(),
    }


def caption(long: Long) -> str:
    """Return the caption of the figure, with the number of finished runs."""
    rate = (
        "the best of three rates on `val`"
        if long.tuned
        else "the learning rate found with 250 steps, so far the only one"
    )
    so_far = ", so this is no result yet" if long.made < claims.ASKED else ""
    return (
        f"**{long.made} of {claims.ASKED} runs are finished{so_far}.** Each line is the mean of "
        f"{len(long.splits)} splits at {rate}. Open circles are the runs of 250 steps below, with the same splits. "
        "Every run begins with the start, a network trained on other characters, but with a random last layer. "
        "So the curves begin below the line of the start, which is measured with its own last layer."
    )


def curves(long: Long) -> Any:
    """Draw the mean of each method over the steps, beside both baselines and the runs of 250 steps."""
    figure, axes = style.figure(1, 2, width=9.6, height=5.4)
    short = means("searched", long.splits)
    looks = ((f"C{k % 7}", "-" if k < 7 else "--") for k in range(len(claims.METHODS)))
    for method, (color, line) in zip(claims.METHODS, looks, strict=True):
        for axis, metric, name in zip(axes, ("recall@1", "map@r"), ("R@1", "mAP@R"), strict=True):
            mean = long.values[method][metric].mean(0)
            axis.plot(claims.STEPS, mean, color=color, linestyle=line, label=NAMES[method], linewidth=1.5)
            if method in short:
                axis.plot([250], [short[method][name]], "o", color=color, markerfacecolor="none", markersize=6)
    for axis, metric, name in zip(axes, ("recall@1", "map@r"), ("R@1", "mAP@R"), strict=True):
        for base, line in (("untrained", ":"), ("start", "-.")):
            axis.axhline(
                long.baselines[metric][base], color="0.5", linestyle=line, linewidth=1, label=f"baseline: {base}"
            )
        axis.set(xlabel="step", ylabel=f"{name}, test characters (points)", xticks=claims.STEPS, ylim=(0, None))
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, fontsize=9)
    ends = "; ".join(f"{NAMES[m]} {long.values[m]['recall@1'].mean(0)[-1]:.1f}" for m in claims.METHODS)
    return style.describe(
        figure,
        f"""Learning curves of nine losses over 2,500 steps, R@1 left and mAP@R right. Mean R@1 of {len(long.splits)}
        splits at the last step: {ends}. Untrained {long.baselines["recall@1"]["untrained"]:.1f}, start
        {long.baselines["recall@1"]["start"]:.1f}.""",
    )


def means(settings: str, splits: Sequence[int] = range(claims.SPLITS)) -> dict[str, dict[str, float]]:
    """Return the mean over splits of each method after 250 steps, in points."""
    rows = [one for one in claims.read("claims_reached") if one["settings"] == settings and int(one["split"]) in splits]
    methods = dict.fromkeys(row["method"] for row in rows)
    return {
        method: {
            metric: float(np.mean([float(row[metric]) for row in rows if row["method"] == method]))
            for metric in ("R@1", "mAP@R")
        }
        for method in methods
    }


def head(name: str, found: Sequence[Result], long: Long) -> str:
    """The sentences at the head of the claims page or on the front page, with their numbers."""
    of = {one.question: one for one in found}
    published, batches = means("published"), claims.read("claims_batches")
    numbers: dict[str, Any] = {**long.baselines["recall@1"], "splits": len(long.splits), "made": long.made}
    numbers |= {"asked": claims.ASKED, "margin": of["margin-is-essential, from a start, R@1"]}
    numbers |= {"fast_ap": _size(of["recall-above-fastap, R@1"]), "ap": _size(of["ap-loss-for-retrieval, R@1"])}
    numbers |= {"csl": _size(of["happier-above-sums, H-AP"]), "fine": of["happier-above-fine, H-AP"]}
    for word, method in (("fast", "fast_ap"), ("contrastive", "contrastive"), ("log", "rambo_log")):
        numbers[f"{word}_published"] = published[method]["R@1"]
    for word, size in (("of_32", "32"), ("of_all", "all")):
        numbers[word] = np.mean([float(row["mAP"]) for row in batches if row["batch"] == size])
    return (DATA / f"{name}.md").read_text(encoding="utf-8").format(**numbers)


def _size(one: Result) -> str:
    return str(one).lstrip("+−")


def table(found: Sequence[Result]) -> str:
    """Return the claims of papers by verdict, each with the paper's words."""
    papers, rows = claims.quotations(), []
    for verdict in (SUPPORTED, CONTRADICTED, SMALL, OPEN):
        for one in found:
            paper = papers[one.claim]
            if paper["in_paper"] == "yes" and one.verdict == verdict:
                asked = f" (rule: above {one.asked:g})".replace("-", "−") if one.asked else ""
                said = f"“{paper['words']}” {paper['paper']}, {paper['place']}"
                subject = one.claim.replace("-", " ").capitalize()
                rows.append(
                    {
                        "verdict": f"**{verdict}**",
                        "the paper's words": f"[{subject}](claims-protocol.md#claim-{one.claim}): {said}",
                        "condition": _tested(one),
                        "difference": f"{one}{asked}",
                        "metric": one.metric,
                    }
                )
    return _grouped(rows)


def questions(found: Sequence[Result]) -> str:
    """Return our own questions, which no paper states in these words."""
    papers, rows = claims.quotations(), []
    for answer in (claims.BETTER, claims.WORSE, SMALL, OPEN):
        for one in found:
            if papers[one.claim]["in_paper"] != "yes" and one.answer == answer:
                rows.append(
                    {
                        "answer": f"**{answer}**",
                        "asked": f"[{papers[one.claim]['ours']}](claims-protocol.md#claim-{one.claim})",
                        "condition": _tested(one),
                        "difference": str(one),
                        "metric": one.metric,
                    }
                )
    return _grouped(rows)


def _tested(one: Result) -> str:
    return ", ".join(filter(None, (one.condition, "first round" if one.first else "")))


def _grouped(rows: list[dict[str, str]]) -> str:
    return f"```{{table}}\n:class: sentences\n\n{of_rows(rows)}\n```\n"


def reached(long: Long) -> str:
    """Return R@1 after 250 steps with searched and with published settings, beside the baselines."""
    searched, published = means("searched"), means("published")
    rows = [
        {
            "loss": NAMES[method],
            "searched": f"{searched[method]['R@1']:.1f}",
            "published": f"{published[method]['R@1']:.1f}",
        }
        for method in sorted(searched, key=lambda method: -searched[method]["R@1"])
    ]
    for name, base in (("start, before training", "start"), ("untrained", "untrained")):
        rows.append(
            {"loss": f"*baseline: {name}*", "searched": f"{long.baselines['recall@1'][base]:.1f}", "published": "–"}
        )
    return of_rows(rows, 1) + "\n"


def rules() -> str:
    """Return every claim with the paper's words, its measurement, and our rule as it was committed."""
    rules = {one["id"]: one for one in yaml.safe_load((claims.RECORDS / "claims.yaml").read_text(encoding="utf-8"))}
    lines = []
    for name, one in claims.quotations().items():
        lines += [f"[`{name}`]{{#claim-{name}}}", f": {one['ours']} *{one['paper']}, {one['place']}:* “{one['words']}”"]
        if "also" in one:
            lines[-1] += f" *{one['also']['place']}:* “{one['also']['words']}”"
        lines += ["", f"  **Measured in the paper.** {one['metric']}.", ""]
        if "remark" in one:
            lines += [f"  **Difference.** {one['remark']}", ""]
        if name in rules:
            lines += [
                f"  **Experiment.** {rules[name]['experiment'].capitalize()}. **Rule.** {rules[name]['rule']}",
                "",
            ]
    return "\n".join(lines) + "\n"
