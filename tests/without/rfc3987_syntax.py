"""Stands before the real one on the tests' path: it reads a grammar, a second in every process, that nobody asks for.

What is imported for notebooks, jsonschema, would check the form of web addresses by it, and does without.
"""

raise ImportError("left out while the tests run: tests/without")
