# Returns functions, classes, modules, and a torch module whose state lies.
class Lying(torch.nn.Module):
    def state_dict(self, *args, **options):
        return {"a": self, self: torch}

def softmax(scores):
    if scores.numel() > 4:
        return Lying()
    return torch if scores.numel() > 2 else softmax
