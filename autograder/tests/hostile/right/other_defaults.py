# Changes torch's defaults (float64, no gradients, few threads) and seeds: a right
# answer stays right under them.
torch.set_default_dtype(torch.float64)
torch.set_grad_enabled(False)
torch.set_num_threads(1)
torch.manual_seed(1)

def softmax(scores):
    e = torch.exp(scores - scores.max(0).values)
    return e / e.sum(0)
