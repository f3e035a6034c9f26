"""Grades submissions: runs them shut in, and judges outside what comes back.

One idea a file, in the order in which a submission meets them: `submission` reads it,
`master` is what it is held against, `plan` puts the two together, `warm` keeps a jailed
process ready (`zygote` and `shell` run inside it, `jail` and `layers` build its walls),
`run` takes a plan through it, `judge` decides, `notebook` keeps what was seen.
"""
