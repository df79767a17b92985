"""What stands behind the pages: figures, explorables, exercises."""

import warnings

from rankedu.rankers import LongStepWarning, NoStepWarning

# The chapters choose λ that reach nobody, or everybody, on purpose, and say what comes of it in the text.
for _said in (NoStepWarning, LongStepWarning):
    warnings.filterwarnings("ignore", category=_said)
