# Replaces exec, compile, isinstance, print and __import__ for everybody: its process is
# of no use any more, and the notebook goes on from before that cell.
import builtins

def nothing(*args, **options):
    return None

for name in ("exec", "compile", "isinstance", "print", "__import__", "len", "type"):
    setattr(builtins, name, nothing)
