"""Federated zeroth-order optimization with Zofl."""
