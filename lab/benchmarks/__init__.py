"""How fast losses, metrics and tools are: `python -m benchmarks`, and on a GPU `python -m benchmarks.gpu`."""
