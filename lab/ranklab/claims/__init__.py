"""The claims of the papers as runs: what is searched, trained and compared for each, and what is to be said of it."""

from ranklab.claims.campaign import CHOSEN, Campaign
from ranklab.claims.cost import Cost, costs
from ranklab.claims.protocol import Arm, Claim, Protocol, data_folder, read_claims, read_protocol
from ranklab.claims.verdict import Verdicts, verdicts

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
