# Defines a function of another name.
# says: NameError
def soft_max(scores):
    return scores
