#' Draw an analysis or scores
#'
#' `plot()` uses base graphics, `autoplot()` needs ggplot2 and returns a plot that can be changed.
#'
#' @param x,object What [analyse()] or [replicability()] returned.
#' @param kind Of an analysis: `"samples"`, a panel for every study, coloured by cluster, or `"table"`, the status of every
#'   cluster in every study.
#' @param ... Further arguments of [graphics::plot.default()] or [graphics::image()].
#' @return `plot()`: `x`, invisibly. `autoplot()`: a ggplot.
#' @examplesIf clustrep::clustrep_available()
#' studies <- simulate_cohorts(n_cohorts = 2, n_samples = 60, n_subtypes = 3, n_features = 4, seed = 1)
#' analysis <- analyse(studies, n_clusters = 3, n_resamples = 5, label = "subtype", seed = 0)
#' plot(analysis)
#' @name plot.clustrep_analysis
NULL

statuses <- c(found = "#2166ac", split = "#67a9cf", merged = "#fddbc7", "not found" = "#b2182b", undetermined = "#bdbdbd")

#' @rdname plot.clustrep_analysis
#' @export
plot.clustrep_analysis <- function(x, kind = c("samples", "table"), ...) {
  if (match.arg(kind) == "table") {
    cells <- unclass(status_table(x))
    draw_cells(matrix(match(cells, names(statuses)), nrow(cells), dimnames = dimnames(cells)), cells, unname(statuses), c(1, 5), ...)
    return(invisible(x))
  }
  places <- x$coordinates
  studies <- unique(places$study)
  colours <- colours_of(places$cluster)
  old <- graphics::par(mfrow = grDevices::n2mfrow(length(studies)), mar = c(2, 2, 2, 0.5))
  on.exit(graphics::par(old))
  for (name in studies) {
    here <- places[places$study == name, ]
    graphics::plot.default(
      here$x, here$y, col = colours[here$cluster], pch = 16, main = name, xlab = "", ylab = "", xlim = range(places$x),
      ylim = range(places$y), ...
    )
    graphics::legend("topright", names(colours), col = colours, pch = 16, bty = "n", cex = 0.8)
  }
  invisible(x)
}

#' @rdname plot.clustrep_analysis
#' @export
plot.clustrep_replicability <- function(x, ...) {
  scores <- as.matrix(x)
  draw_cells(scores, formatC(scores, format = "f", digits = 2), grDevices::hcl.colors(100, "Blues", rev = TRUE), c(0, 1), ...)
  invisible(x)
}

draw_cells <- function(values, text, colours, range, ...) {
  rows <- seq_len(nrow(values))
  columns <- seq_len(ncol(values))
  shown <- pmin(pmax(values, range[[1]]), range[[2]])
  named <- names(dimnames(values))
  graphics::image(
    columns, rows, t(shown[rev(rows), , drop = FALSE]), col = colours, zlim = range, axes = FALSE, xlab = named[[2]],
    ylab = named[[1]], ...
  )
  graphics::axis(1, columns, colnames(values), tick = FALSE)
  graphics::axis(2, rows, rev(rownames(values)), tick = FALSE, las = 1)
  graphics::text(col(values), nrow(values) + 1L - row(values), text, cex = 0.8)
}

colours_of <- function(clusters) {
  known <- setdiff(sort(unique(clusters)), "?")
  colours <- rep_len(grDevices::palette.colors(9L, "Okabe-Ito")[-1], length(known))
  colours <- stats::setNames(colours, known)
  if ("?" %in% clusters) c(colours, "?" = "#bdbdbd") else colours
}

#' @rdname plot.clustrep_analysis
#' @exportS3Method ggplot2::autoplot
autoplot.clustrep_analysis <- function(object, kind = c("samples", "table"), ...) {
  kind <- match.arg(kind)
  if (kind == "table") {
    findings <- object$findings
    findings$cluster <- factor(findings$cluster, rev(unique(findings$cluster)))
    findings$study <- factor(findings$study, unique(findings$study))
    return(ggplot2::ggplot(findings, ggplot2::aes(.data$study, .data$cluster, fill = .data$status)) +
      ggplot2::geom_tile(colour = "white") +
      ggplot2::geom_text(ggplot2::aes(label = .data$n)) +
      ggplot2::scale_fill_manual(values = statuses))
  }
  places <- object$coordinates
  places$study <- factor(places$study, unique(places$study))
  ggplot2::ggplot(places, ggplot2::aes(.data$x, .data$y, colour = .data$cluster)) +
    ggplot2::geom_point() +
    ggplot2::facet_wrap(~study) +
    ggplot2::scale_colour_manual(values = colours_of(places$cluster))
}

#' @rdname plot.clustrep_analysis
#' @exportS3Method ggplot2::autoplot
autoplot.clustrep_replicability <- function(object, ...) {
  scores <- object$scores
  scores$train <- factor(scores$train, rev(unique(scores$train)))
  scores$test <- factor(scores$test, unique(scores$test))
  ggplot2::ggplot(scores, ggplot2::aes(.data$test, .data$train, fill = .data$mean)) +
    ggplot2::geom_tile() +
    ggplot2::geom_text(ggplot2::aes(label = formatC(.data$mean, format = "f", digits = 2))) +
    ggplot2::scale_fill_gradientn(colours = grDevices::hcl.colors(9, "Blues", rev = TRUE), limits = c(NA, 1))
}

utils::globalVariables(".data")
