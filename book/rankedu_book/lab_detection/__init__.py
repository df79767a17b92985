"""The lab of detection."""
