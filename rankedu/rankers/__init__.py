"""Rankers: modules that map scores to ranks and give the scores a gradient. A loss is a formula applied to one."""

from rankedu.rankers.blackbox import BlackboxRanker

__all__ = ["BlackboxRanker"]
