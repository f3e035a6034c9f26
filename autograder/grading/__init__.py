"""From a class's notebooks to results, gradebook, feedback and grades."""
