"""The lab of speed."""
