"""Dumps: embeddings and labels that lie in files, and how well these embeddings retrieve."""

from ranklab.dumps.embeddings import read_embeddings
from ranklab.dumps.evaluation import evaluate
from ranklab.dumps.labels import Labels, number_labels, read_labels
from ranklab.dumps.names import metric_names
from ranklab.dumps.report import Report

__all__ = ["Labels", "Report", "evaluate", "metric_names", "number_labels", "read_embeddings", "read_labels"]
