"""What makes the notebooks: chapters executed, exercises and solutions, examples."""
