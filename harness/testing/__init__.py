"""Tools to test one's own manifests and specs with."""
