# Raises an error whose words raise, whose name is 10^6 letters of HTML with line ends,
# and that says it is another: one short line of the reason comes of it.
def softmax(scores):
    name = "<script>\n" * 100_000

    def fail(self):
        raise RuntimeError("its words")

    kind = type(name, (Exception,), {"__str__": fail, "__repr__": fail})
    kind.__module__ = kind.__qualname__ = name
    raise kind()
