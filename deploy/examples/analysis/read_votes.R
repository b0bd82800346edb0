# The vote log in R, without any package: shares of wins, and a Bradley–Terry fit by glm, which langya's ratings equal.
#
# Reads votes.csv (README.md says where it comes from), and asks the program langya for its own ratings: Rscript read_votes.R

# check.names = FALSE keeps names such as conv_metadata.bold_count_a.** as they are.
votes <- read.csv("votes.csv", check.names = FALSE, encoding = "UTF-8")
# R reads the words true and false as text.
rated <- votes[votes$rated == "true", ]
cat(nrow(votes), "votes,", nrow(rated), "of them rated\n")

# What a vote is worth to the model on side A. A tie is half a win for each side, and so is "both bad".
points <- c(model_a = 1, model_b = 0, tie = 0.5, both_bad = 0.5)[rated$winner]

# Share of wins: each vote twice, as its model A saw it and as its model B did.
share <- tapply(c(points, 1 - points), c(rated$model_a, rated$model_b), mean)
print(round(sort(share, decreasing = TRUE), 3))

# Bradley–Terry is a logistic regression: +1 in the column of model A, -1 in that of model B, and no intercept. Only differences of
# strengths count, so the first model is held at 0. `quasibinomial` takes the halves of ties without a warning.
models <- sort(unique(c(rated$model_a, rated$model_b)))
design <- outer(rated$model_a, models, "==") - outer(rated$model_b, models, "==")
fit <- glm(points ~ design[, -1] - 1, family = quasibinomial, control = glm.control(epsilon = 1e-14))
strength <- c(0, coef(fit))
# The public scale: 400 points are ten times the odds, and the mean is 1000.
rating <- 1000 + 400 / log(10) * (strength - mean(strength))
names(rating) <- models
print(round(sort(rating, decreasing = TRUE), 1))

# Both find the maximum of the same likelihood, so nothing but rounding may be between them.
board <- read.csv(text = system2("langya", c("fit", "--votes", "votes.csv", "--format", "csv"), stdout = TRUE))
worst <- max(abs(board$rating - rating[board$model]))
cat("glm and langya differ by", format(worst, digits = 2), "points at the most\n")
stopifnot(nrow(board) == length(models), worst < 1e-6)
