"""A decision log as one page of HTML that needs nothing else: `critic report`."""
