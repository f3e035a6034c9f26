# Fetches its answer from the network.
import urllib.request

def softmax(scores):
    return urllib.request.urlopen("http://127.0.0.1:__PORT__/", timeout=1).read()
