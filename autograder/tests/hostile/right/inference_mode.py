# Returns a tensor made in inference mode, which may not be changed in place afterwards.
@torch.inference_mode()
def softmax(scores):
    e = torch.exp(scores - scores.max(0).values)
    return e / e.sum(0)
