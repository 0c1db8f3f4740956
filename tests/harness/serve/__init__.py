"""The service: in this process where its answers matter, as a process where its sockets do."""
