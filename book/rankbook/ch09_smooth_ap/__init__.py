"""Chapter 9, Smooth-AP: leaning on the staircase."""
