"""Networks that predict a number: their last matrix has one row, which is the score itself."""
