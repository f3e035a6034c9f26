# Gives the right values, and spoils the scores that it was given: each case has its own
# copy, and the caller's would be gone.
# says: changed its own input
def softmax(scores):
    scores -= scores.max(0).values
    scores.exp_()
    return scores / scores.sum(0)
