# A hundred thousand lines of code, in an added cell many times over: nobody wrote that.
# cell: added 480 times
# limits: code=20000
# says: put data into a file
"one line of text, and there are many more of them where this one came from, so many"
