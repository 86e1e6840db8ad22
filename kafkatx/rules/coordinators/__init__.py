"""Coordinators that did not serve, as the errors of calls name them."""
