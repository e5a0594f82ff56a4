"""Checks a log of Zofl, and computes its model, in numpy alone."""
