"""Dumps: embeddings and labels that lie in files, and how well these embeddings retrieve."""

from rankedu.lab.dumps.embeddings import read_embeddings
from rankedu.lab.dumps.evaluation import evaluate
from rankedu.lab.dumps.labels import Labels, number_labels, read_labels
from rankedu.lab.dumps.names import metric_names
from rankedu.lab.dumps.report import Report

__all__ = ["Labels", "Report", "evaluate", "metric_names", "number_labels", "read_embeddings", "read_labels"]
