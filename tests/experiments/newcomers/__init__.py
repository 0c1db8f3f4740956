"""What first policies make of the tasks of agents that a careful person has labelled."""
