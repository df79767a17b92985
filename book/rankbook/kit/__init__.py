"""What every chapter uses: style, explorables, live explorables, checks of exercises, definitions."""
