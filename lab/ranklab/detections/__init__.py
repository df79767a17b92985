"""What a detector finds: how much boxes overlap, AP of detections, and a loss that ranks proposals for each class."""

from ranklab.detections.boxes import box_iou
from ranklab.detections.matching import DetectionMatches, evaluate_detections, match_detections
from ranklab.detections.on_proposals import OnProposals, proposal_scores

__all__ = ["DetectionMatches", "OnProposals", "box_iou", "evaluate_detections", "match_detections", "proposal_scores"]
