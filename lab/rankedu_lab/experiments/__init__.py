"""What each lab does: train, measure, and keep what came out."""
