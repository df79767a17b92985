"""What stands behind the pages: figures, exercises."""

import warnings

# The chapters choose λ that reach nobody, or everybody, on purpose, and say what comes of it in the text. By what the
# warnings say and not by their classes, for these bring torch along, and the commands' help does without.
warnings.filterwarnings("ignore", message="lam must (be so large that a step|leave steps shorter)")
