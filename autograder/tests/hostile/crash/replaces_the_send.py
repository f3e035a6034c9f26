# Replaces the function that sends answers by nothing: whoever never answers is stopped
# and counts as gone.
# limits: seconds=1
# says: 1 s
get_ipython().by_hand.channel.socket.close()
