"""Chapter 19, Differentiable sorting."""
