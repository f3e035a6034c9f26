# Closes the channel over which it would answer: whoever never answers counts as gone.
# says: ended the process
get_ipython().by_hand.channel.socket.close()
