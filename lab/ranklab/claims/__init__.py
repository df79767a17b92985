"""The claims of the papers as runs: what is searched, trained and compared for each, and what is to be said of it.

The first round is `campaign` and `verdict`, the second `deals`, `spread` and `answers`; `power` forecast the second.
"""

from ranklab.claims.campaign import Campaign
from ranklab.claims.cost import Cost, costs
from ranklab.claims.protocol import Arm, Claim, Protocol, read_claims, read_protocol, read_searches
from ranklab.claims.verdict import Verdicts, verdicts

__all__ = ["Arm", "Campaign", "Claim", "Cost", "Protocol", "Verdicts", "costs", "read_claims", "read_protocol"]
__all__ += ["read_searches", "verdicts"]
