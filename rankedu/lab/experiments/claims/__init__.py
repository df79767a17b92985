"""The claims of the papers as runs: what is searched, trained and compared for each, and what is to be said of it."""

from rankedu.lab.experiments.claims.campaign import CHOSEN, Campaign
from rankedu.lab.experiments.claims.cost import Cost, costs
from rankedu.lab.experiments.claims.protocol import (
    Arm,
    Claim,
    Protocol,
    data_folder,
    read_claims,
    read_protocol,
)
from rankedu.lab.experiments.claims.verdict import Verdicts, verdicts

__all__ = [
    "CHOSEN",
    "Arm",
    "Campaign",
    "Claim",
    "Cost",
    "Protocol",
    "Verdicts",
    "costs",
    "data_folder",
    "read_claims",
    "read_protocol",
    "verdicts",
]
