"""Dumps: embeddings and labels that lie in files, and how well these embeddings retrieve."""

from rankedu.dumps.embeddings import read_embeddings
from rankedu.dumps.evaluation import evaluate
from rankedu.dumps.labels import Labels, number_labels, read_labels
from rankedu.dumps.names import metric_names
from rankedu.dumps.report import Report

__all__ = ["Labels", "Report", "evaluate", "metric_names", "number_labels", "read_embeddings", "read_labels"]
