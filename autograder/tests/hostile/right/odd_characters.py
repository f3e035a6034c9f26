# Names in other scripts, emoji, a form feed, a NUL and line ends of three kinds in the
# text: it is Python all the same.
größe = "🦊 \u2028 \x85"

def softmax(scores):
    експ = torch.exp(scores - scores.max(0).values)
    return експ / експ.sum(0)
