"""How the functions with assembly of a tree of gated sums are called."""

from __future__ import annotations

from agreement.forest import walk

CALLS = {"walk": walk}

LISTINGS = {
    "kinds.bonsai.kernels.listing": "walk",
}
