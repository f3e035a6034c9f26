# Holds the marks that hidden tests and solutions are found by: in a student's text they
# are words like any other.
def softmax(scores):
    """
    ### BEGIN HIDDEN TESTS
    check("a secret" " label", softmax, None)
    ### END HIDDEN TESTS
    ### BEGIN SOLUTION
    """
    e = torch.exp(scores - scores.max(0).values)
    ### END SOLUTION
    return e / e.sum(0)
