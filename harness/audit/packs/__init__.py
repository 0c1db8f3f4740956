"""Packs: decisions with their inputs and proofs on one page, which checks itself offline."""
