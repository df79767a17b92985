"""The claims of the papers as runs: what is searched, trained and compared for each, and what is to be said of it.

The first round is judged by its records, `protocol` and `verdict`; the commits that they name trained it. The second is
`deals`, `spread` and `answers`; `power` forecast it.
"""

from ranklab.claims.protocol import Arm, Claim, Protocol, read_claims, read_protocol, read_searches
from ranklab.claims.verdict import Verdicts, verdicts

__all__ = ["Arm", "Claim", "Protocol", "Verdicts", "read_claims", "read_protocol", "read_searches", "verdicts"]
