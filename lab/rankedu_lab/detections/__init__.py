"""What a detector finds: how much boxes overlap, AP of detections, and a loss that ranks proposals for each class."""

from rankedu_lab.detections.boxes import box_iou
from rankedu_lab.detections.matching import DetectionMatches, evaluate_detections, match_detections
from rankedu_lab.detections.on_proposals import OnProposals, proposal_scores

__all__ = ["DetectionMatches", "OnProposals", "box_iou", "evaluate_detections", "match_detections", "proposal_scores"]
