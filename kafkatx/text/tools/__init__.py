"""What consumers and the admin tool print."""
