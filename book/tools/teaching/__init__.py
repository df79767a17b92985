"""What is made for teachers: lectures, slides, the question bank."""
