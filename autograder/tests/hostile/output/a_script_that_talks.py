# The same by a cell of another language.
# cell: answer
# says: far too much
get_ipython().run_cell_magic("bash", "", "yes 'and so on and so on'")
