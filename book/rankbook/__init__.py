"""What stands behind the pages: figures, explorables, exercises."""
