"""Prints the percentiles of all resamples that tests/it/agree compares intervals with.

Needs Python alone:  python3 mean_kappa_expected.py

Enumerates every resample with its probability, in fractions, where the program draws 10,000 at random. Resamples without a
value are left out. The ends of a 95 % interval of random resamples lie between the percentiles 1.8 and 3.2, and 96.8 and 98.2.
"""

import math
from collections import Counter, defaultdict
from fractions import Fraction
from itertools import combinations

LEVELS = [Fraction(level, 1000) for level in (18, 32, 968, 982)]

# tests/it/agree/intervals.rs: the judge's verdict and what the people voted, and how many such questions there are.
SIX = [("a", "aab", 1), ("b", "bbb", 1), ("a", "ata", 1), ("t", "tta", 1), ("b", "aaa", 1), ("a", "baa", 1)]
FIVE_PEOPLE = [("a", "aaaab", 5), ("b", "bbbab", 5), ("a", "babba", 1), ("b", "aabba", 1)]
THREE_PEOPLE = [("a", "aaa", 5), ("b", "bba", 4), ("a", "baa", 2), ("b", "abb", 1)]

# tests/it/agree/scores.rs: the scores of three dialogues by five experts and by the judge.
EXPERTS = [[7, 8, 9, 7, 8], [3, 4, 4, 6, 2], [10, 10, 9, 10, 9]]
JUDGED = [9, 5, 9]


def resamples(sizes):
    """How often each group is drawn in as many draws as there are units, with the probability of that."""
    units = sum(sizes)
    for bars in combinations(range(units + len(sizes) - 1), len(sizes) - 1):
        edges = [-1, *bars, units + len(sizes) - 1]
        times = [right - left - 1 for left, right in zip(edges, edges[1:])]
        ways = math.factorial(units)
        for drawn, size in zip(times, sizes):
            ways = ways // math.factorial(drawn) * size**drawn
        yield times, Fraction(ways, units**units)


def percentiles(values, levels=LEVELS):
    """The least values that are reached with these probabilities, among resamples that have a value."""
    chances = defaultdict(Fraction)
    for value, chance in values:
        if value is not None:
            chances[value] += chance
    total, below, found = sum(chances.values()), Fraction(0), []
    for value in sorted(chances):
        below += chances[value] / total
        found += [value] * sum(below >= level for level in levels[len(found) :])
    return found


def ratio(part, whole):
    return Fraction(part, whole) if whole else None


def beyond_chance(observed, expected):
    return None if expected == 1 else (observed - expected) / (1 - expected)


def cohen(pairs):
    """Of pairs of labels, each with how often it was given."""
    items = sum(pairs.values())
    if not items:
        return None
    agreed = sum(times for (one, other), times in pairs.items() if one == other)
    share = lambda rater, label: Fraction(sum(n for labels, n in pairs.items() if labels[rater] == label), items)
    expected = sum(share(0, label) * share(1, label) for label in {label for labels in pairs for label in labels})
    return beyond_chance(Fraction(agreed, items), expected)


def agreeing_pairs(labels):
    return sum(one == other for one, other in combinations(labels, 2))


def observed(items):
    """Mean share of agreeing pairs of raters; items have equally many."""
    shares = [(Fraction(agreeing_pairs(labels), math.comb(len(labels), 2)), times) for labels, times in items]
    return sum(share * times for share, times in shares) / sum(times for _, times in shares)


def fleiss(items):
    """Of the labels of items by equally many raters, each with how often the item was drawn."""
    given = Counter()
    for labels, times in items:
        for label in labels:
            given[label] += times
    ratings = sum(given.values())
    return beyond_chance(observed(items), sum(Fraction(times, ratings) ** 2 for times in given.values()))


def randolph(items):
    return beyond_chance(observed(items), Fraction(1, 3))


def alpha(items):
    """Krippendorff's, of labels: one minus the ratio of the coincidences that disagree to those of chance."""
    coincidences = defaultdict(Fraction)
    for labels, times in items:
        for i, one in enumerate(labels):
            for j, other in enumerate(labels):
                if i != j:
                    coincidences[one, other] += Fraction(times, len(labels) - 1)
    given = defaultdict(Fraction)
    for (label, _), times in coincidences.items():
        given[label] += times
    total = sum(given.values())
    disagree = sum(times for (one, other), times in coincidences.items() if one != other)
    by_chance = sum(given[one] * given[other] for one in given for other in given if one != other) / (total - 1)
    return None if by_chance == 0 else 1 - disagree / by_chance


def majority(labels):
    first, *others = Counter(labels).most_common()
    return None if others and others[0][1] == first[1] else first[0]


def of_votes(drawn):
    """Each number of the votes on questions, of which each is drawn so many times."""
    decided = lambda labels: [label for label in labels if label != "t"]
    pooled = lambda pairs: ratio(
        sum(times * sum(one == other for one, other in said) for said, times in pairs),
        sum(times * len(said) for said, times in pairs),
    )
    two = lambda keep: pooled([(list(combinations(keep(people), 2)), times) for _, people, times in drawn])
    judged = lambda keep: pooled(
        [([(vote, by_judge) for vote in keep(people) for by_judge in keep(judge)], n) for judge, people, n in drawn]
    )
    majorities = Counter()
    for judge, people, times in drawn:
        if majority(people):
            majorities[majority(people), judge] += times
    items = [(people, times) for _, people, times in drawn]
    with_judge = [(people + judge, times) for judge, people, times in drawn]
    return {
        "human_human with_ties": two(list),
        "human_human without_ties": two(decided),
        "judge_human with_ties": judged(list),
        "judge_human without_ties": judged(decided),
        "cohen_majority": cohen(majorities),
        "fleiss": fleiss(items),
        "randolph": randolph(items),
        "krippendorff": alpha(items),
        "krippendorff_with_judge": alpha(with_judge),
    }


def mean(values):
    values = [value for value in values if value is not None]
    return sum(values) / len(values) if values else None


def mean_kappas(questions, kappa, resamples_people):
    """The mean of the kappas of the judge with each person, of all resamples of the questions and, where they are drawn, the people."""
    people = len(questions[0][1])
    draws = list(resamples([1] * people)) if resamples_people else [([1] * people, Fraction(1))]
    for times, chance in resamples([size for *_, size in questions]):
        kappas = [kappa(labels_of(person, questions, times)) for person in range(people)]
        for drawn, chance_of_people in draws:
            yield mean(sum(([value] * n for value, n in zip(kappas, drawn)), [])), chance * chance_of_people


def labels_of(person, questions, times):
    """The pairs of labels of a person and the judge, each with how often it was drawn."""
    counts = Counter()
    for (judge, said, _), drawn in zip(questions, times):
        counts[said[person], judge] += drawn
    return +counts


def kappas_of(questions):
    """The kappa of each person, of the questions as they are."""
    times = [size for *_, size in questions]
    return [cohen(labels_of(person, questions, times)) for person in range(len(questions[0][1]))]


def of_kappas_alone(kappas):
    """Percentiles 2.5 and 97.5 of resamples of the people, with the kappas that they have."""
    draws = resamples([1] * len(kappas))
    values = [(mean(sum(([kappa] * n for kappa, n in zip(kappas, drawn)), [])), chance) for drawn, chance in draws]
    return percentiles(values, [Fraction(25, 1000), Fraction(975, 1000)])


def band(score):
    return (score >= 4) + (score >= 7) + (score >= 10)


def show(name, values):
    print(f"{name:26}", *(f"{float(value):9.6f}" for value in values))


print("percentiles                     1.8       3.2      96.8      98.2")
found = defaultdict(list)
for times, chance in resamples([size for *_, size in SIX]):
    drawn = [(judge, people, n) for (judge, people, _), n in zip(SIX, times) if n]
    for name, value in of_votes(drawn).items():
        found[name].append((value, chance))
for name, values in found.items():
    show(name, percentiles(values))
for name, questions, resamples_people in [("five people", FIVE_PEOPLE, True), ("three people", THREE_PEOPLE, False)]:
    show(f"cohen_people, {name}", percentiles(mean_kappas(questions, cohen, resamples_people)))
dialogues = [(band(judged), [band(score) for score in experts], 1) for judged, experts in zip(JUDGED, EXPERTS)]
of_two = lambda pairs: fleiss(list(pairs.items())) if pairs else None
labels = list(mean_kappas(dialogues, of_two, True))
show("fleiss of dialogues", percentiles(labels))
print("without a kappa:", f"{float(sum(chance for value, chance in labels if value is None)):.3f}")
for name, questions in [("five people", FIVE_PEOPLE), ("three people", THREE_PEOPLE)]:
    kappas = kappas_of(questions)
    print(f"{name}: mean {float(mean(kappas)):.6f} of", *kappas)
    show("resampled alone, 2.5 97.5", of_kappas_alone(kappas))
