//! Methods section of a study's report, with formulas and sources.

use crate::domain::correlation::study::Results;

/// Renders the methods of a study as Markdown.
pub(super) fn of(results: &Results) -> String {
    let resampled = results.pairs.iter().any(|pair| pair.report.bootstrap.is_some());
    let votes = results.data.used.votes.is_some();
    let mixed = !results.combinations.is_empty();
    let scored = !results.data.used.suites.is_empty();
    let parts = [Some(CORRELATIONS), Some(INTERVALS), resampled.then_some(RESAMPLED), votes.then_some(ARENA)];
    let parts = parts.into_iter().chain([scored.then_some(SUITES), mixed.then_some(MIXTURES), Some(READING)]);
    parts.flatten().map(|part| format!("{part}\n\n")).collect()
}

const CORRELATIONS: &str = "\
**Correlations.** Over the n subjects that both series have, with x̄ and ȳ the means of their values:
Pearson's r = Σ(x−x̄)(y−ȳ) / √(Σ(x−x̄)²·Σ(y−ȳ)²) (Pearson 1895); Spearman's ρ is Pearson's r of the ranks, tied values having
the mean of their ranks (Spearman 1904); Kendall's τ-b = (C−D) / √((N−Tx)(N−Ty)), with C pairs of subjects in the same order and
D in the opposite one, of N = n(n−1)/2 pairs, of which x ties Tx and y ties Ty (Kendall 1945). A correlation of fewer than
three subjects or of values that are all equal does not exist.

**p-values** are two-sided. `exact` counts all orders of one series: for ρ up to n = 9 and for τ-b up to n = 33, where nothing is
tied. Otherwise r and ρ go by `t`, t = r·√((n−2)/(1−r²)) with n−2 degrees of freedom (Student 1908), and τ-b by the `normal`
distribution with the variance that the ties leave (Kendall 1970, chapter 4). Up to n = 8, tied values have a p from all of their
orders as well, the one called `exact` beside another.";

const INTERVALS: &str = "\
**Fisher intervals** are tanh(atanh r ± z·σ), with σ² = 1/(n−3) for r (Fisher 1921), (1+ρ²/2)/(n−3) for ρ (Bonett and Wright 2000)
and 0.437/(n−4) for τ-b (Fieller, Hartley and Pearson 1957). They say what another choice of subjects would change.";

const RESAMPLED: &str = "\
**Resampled intervals** lie between the percentiles of bootstrap replicates (Efron and Tibshirani 1993, section 13.3): voters with all of
their votes (Field and Welsh 2007), or single votes where several voters are not known, are resampled with replacement and the ratings
fitted to them again, judged items are resampled within their categories and the scores computed again, both in each replicate, and what is published is held fixed. They say what other votes and other items would
change, for these very subjects. Resampling adds their noise a second time, so where a correlation is strong, its resampled interval lies too
close to 0 and contains a true correlation such as 0.8 less often than its confidence says. The random numbers are ChaCha8's, a stream a replicate.";

const ARENA: &str = "\
**Ratings of the arena** are strengths by Bradley and Terry (1952), P(i beats j) = 1/(1+exp(βj−βi)), fitted by maximum likelihood to
all rated votes, a tie and a vote for neither as half a win for each; 400/ln 10 · β + 1000 is the rating, with intervals by
leaving out each voter (Bell and McCaffrey 2002) where several voters are known and the settings name no other method, else by the
sandwich formula (White 1982). Elo ratings follow the votes one by one (Elo 1978). The win-and-tie rate is the share of its votes
that a model won or tied; a vote that both replies are bad is neither.";

const SUITES: &str = "\
**Scores of suites** are computed from stored judgements as the suites' papers say; where several judged, their mean.";

const MIXTURES: &str = "\
**Mixtures** are Σ wᵢ·sᵢ of the series as they stand, with wᵢ ≥ 0 and Σ wᵢ = 1, and the weights on a grid of the given step (or, for
step 0, exactly) that give the greatest Pearson correlation with the target. That correlation is of the numbers that the weights were
fitted to and flatters. Its p is of a permutation test: the target is permuted over the subjects, the weights are fitted again to
each permutation, exactly, and p = (1 + permutations whose best mixture correlates as much) / (1 + permutations) (Phipson and Smyth
2010). Leaving one out, each subject is predicted by the mixture that was fitted to the others; the p of these predictions takes them
as independent.";

const READING: &str = "\
**Reading this.** No p-value is corrected for how many comparisons a study makes. A correlation over the models at hand says
nothing of models that were left out, and those were seldom left out by chance.";
