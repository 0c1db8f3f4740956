"""What tests share: builders, generators and the second model."""
