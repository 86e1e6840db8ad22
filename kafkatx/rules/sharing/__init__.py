"""One transactional.id with several owners, one producer object with several threads."""
