"""What people write around what programs printed: statements, errors that they name, what fails in their words."""
