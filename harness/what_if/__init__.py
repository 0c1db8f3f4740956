"""What-if: judge recorded plans under another policy, mode or budget. Nothing is executed."""
