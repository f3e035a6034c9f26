"""Tests of the walls around submissions: each holds, and is missed when it is gone."""
