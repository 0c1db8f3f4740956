"""What the programs of the pages find on their import path, beside what they show."""
