# Mixes tabs and spaces.
def softmax(scores):
	if True:
        return scores
