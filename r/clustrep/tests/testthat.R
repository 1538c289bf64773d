library(testthat)
library(clustrep)

test_check("clustrep")
