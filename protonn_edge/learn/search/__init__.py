"""The best model that fits: a search over sizes and settings, evaluated by the integer model.

Before training, the planner sorts out settings that cannot fit. The others are trained and tested
in cross-validation, on this machine or on a cluster; every finished trial is kept.
"""

CHOICES = BEST, SMALLEST, FASTEST = "best", "smallest", "fastest"
"""Which trial is chosen: the most accurate, or the cheapest of those nearly as accurate.

The first one also names the kind of classifier that `train` finds in a limited time.
"""

ANY = "any"
"""The name of all kinds of classifiers together."""
