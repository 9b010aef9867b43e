# Погода: means of what was measured.
library(dplyr)
require("stats")
source("R/read.R")

UNITS <- c(
  warm = "тепло",
  cold = "холодно"
)

#' Mean of a column.
#'
#' @param data A table.
#' @export
column_mean <- function(data, column = "temp", ...) {
  check <- function(x) {
    stopifnot(is.numeric(x))
  }
  check(data[[column]])
  if (nrow(data) == 0) {
    NA
  } else {
    mean(data[[column]])
  }
}

square = function(x) x^2
half <- \(x) x / 2
`%+%` <- function(a, b) paste0(a, b)
`my name` <- function() NULL
total <<- function(x) sum(x)

print.weather <- function(x, ...) {
  cat(format(x), "\n")
}

model$predict <- function(day) {
  day + 1
}

Station <- R6::R6Class("Station",
  public = list(
    name = NULL,
    initialize = function(name) {
      self$name <- name
    },
    show = function() {
      cat(self$name)
    }
  )
)

setMethod("show", "Weather", function(object) {
  print(object)
})

if (interactive()) {
  debug <- function(x) str(x)
}

column_mean(data.frame(temp = 1:3))
