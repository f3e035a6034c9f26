"""What the book's pages draw: matrices, plots, errata, recorded experiments."""
