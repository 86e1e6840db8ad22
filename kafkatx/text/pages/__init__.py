"""Pages cut into the parts that tools wrote, whatever pasting did to them."""
