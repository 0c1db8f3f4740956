"""One small file per framework: what it has, behind the ports of this house."""
