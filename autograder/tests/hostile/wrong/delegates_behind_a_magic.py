# The same, with lines around it that are no Python, so that no syntax tree is to be had:
# what can't be read does not count.
# rule: kept
# says: softmax
def softmax(scores):
    return torch.softmax(scores, dim=0)

%precision 3
/print 1
%time \
    one = 1
