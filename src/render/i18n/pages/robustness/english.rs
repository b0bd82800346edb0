//! English.

use super::{
    Naming, RobustnessAnswer, RobustnessTexts, agree_on_first, is_significant, largest_rank_move, mean_number, median,
    percent, points, times_in_100,
};
use crate::domain::plural::counted;
use crate::domain::rating::robustness::{
    Cycles, DecisiveVoters, FirstPlace, GoodnessOfFit, OverallRobustness, TieOrder, TieTreatment, VoterConsistency,
};

pub(in crate::i18n::pages) const ENGLISH: RobustnessTexts = RobustnessTexts {
    title: "How robust is this leaderboard?",
    computed: "Computed {time} from {votes} {votes:vote|votes} between rated models. None of this changes a rating.",
    answers,
};

fn answers(report: &OverallRobustness, name: &Naming<'_>) -> Vec<RobustnessAnswer> {
    let answer = |question, text: Option<String>| text.map(|text| RobustnessAnswer { question, text });
    let first = report.first_place.as_ref();
    [
        answer("Who is first?", first.map(|first| first_place_text(first, name))),
        answer("How many votes or voters decide it?", first.and_then(|first| decisive(first, report.votes, name))),
        answer("Do the ratings describe the votes?", report.goodness_of_fit.as_ref().map(|fit| fit_text(fit, name))),
        answer("Do models beat each other in circles?", report.cycles.as_ref().map(|found| cycles(found, name))),
        answer("Does it matter how ties count?", Some(ties(&report.tie_orders, name))),
        answer("Do the voters agree?", report.voter_consistency.as_ref().map(voters)),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn first_place_text(first: &FirstPlace, name: &Naming<'_>) -> String {
    match (&first.lead, first.models.as_slice()) {
        (Some(lead), [model]) => {
            format!("{}, {} points ahead of {}.", name(model), points(lead.points), name(&lead.second))
        }
        (_, [model]) => {
            format!("{}: it has won every vote so far, so nobody can say how far ahead it is.", name(model))
        }
        (_, models) => format!("{} share the first place.", listed(models, name)),
    }
}

fn decisive(first: &FirstPlace, all: u64, name: &Naming<'_>) -> Option<String> {
    let votes = first.votes.as_ref().map(|decisive| {
        let model = first.models.first().map(|model| name(model)).unwrap_or_default();
        format!(
            "Without {} of the {all} votes ({} %), picked to hurt {model} most, {} would be first.",
            decisive.votes,
            percent(decisive.share),
            name(&decisive.challenger)
        )
    });
    let sentences: Vec<String> = votes.into_iter().chain(first.voters.as_ref().map(decisive_voters)).collect();
    (!sentences.is_empty()).then(|| sentences.join(" "))
}

fn decisive_voters(found: &DecisiveVoters) -> String {
    let DecisiveVoters { voters, decisive, left_out, strongest } = found;
    let at_least = if decisive == left_out && left_out < voters { "at least " } else { "" };
    let said = if *decisive == 0 {
        format!("No single one of the {voters} voters decides it.")
    } else {
        format!("Leaving out any one of {at_least}{decisive} of the {voters} voters would put another model first.")
    };
    let influence = strongest.as_ref().map(|voter| {
        let (votes, lead) = (voter.votes, points(voter.lead.abs()));
        let then = if voter.lead < 0.0 {
            format!("another model would be {lead} points ahead")
        } else {
            format!("the lead would be {lead} points")
        };
        let votes = counted(votes, "vote", "votes");
        format!(" The voter with most influence cast {votes}. Without the votes of this voter, {then}.")
    });
    said + &influence.unwrap_or_default()
}

fn fit_text(fit: &GoodnessOfFit, name: &Naming<'_>) -> String {
    let (pairs, times) = (counted(fit.pairs, "pair", "pairs"), times(fit.p));
    if !is_significant(fit.p) {
        return format!(
            "Yes, as far as the votes show: over {pairs} of models, they deviate from what the ratings predict no more \
             than chance would. By chance alone, deviations this large occur {times}."
        );
    }
    let worst = fit.worst.first().map(|worst| {
        format!(
            " Largest deviation: {} has {} % of the points in {} against {}; its rating predicts {} %.",
            name(&worst.better),
            percent(worst.observed),
            counted(worst.votes, "vote", "votes"),
            name(&worst.worse),
            percent(worst.expected)
        )
    });
    format!(
        "Not quite: over {pairs} of models, the votes deviate more from what the ratings predict than chance would, typically \
         by about {} percentage points. By chance alone, deviations this large occur {times}.{} Voters with different tastes cause this too.",
        percent(fit.misfit),
        worst.unwrap_or_default()
    )
}

fn times(p: f64) -> String {
    times_in_100(p).map_or_else(|| "less than once in 100".to_owned(), |times| format!("{times} times in 100"))
}

fn cycles(found: &Cycles, name: &Naming<'_>) -> String {
    let Some(circle) = &found.clearest else { return "No three models do.".to_owned() };
    let [a, b, c] = circle.models.each_ref().map(|model| name(model));
    let verdict = if is_significant(found.p) {
        "The ratings miss something here.".to_owned()
    } else if is_significant(circle.p) {
        format!(
            "So the number of circles says little, but a circle this clear would appear by chance only {}.",
            times(circle.p)
        )
    } else {
        "So this says little.".to_owned()
    };
    format!(
        "{} of {} groups of three do, most clearly {a} over {b}, {b} over {c} and {c} over {a}. Chance alone would produce about {}, \
         and at least this many {}. {verdict}",
        found.cyclic,
        found.triples,
        mean_number(found.expected),
        times(found.p)
    )
}

fn ties(orders: &[TieOrder], name: &Naming<'_>) -> String {
    let Some(order) = orders.first() else { return "No: no vote is a tie.".to_owned() };
    let first = if agree_on_first(orders) {
        format!(
            "Not for the first place: it stays with {}, whether ties {}.",
            listed(&order.first, name),
            rules(orders)
        )
    } else {
        let by_rule = |order: &TieOrder| format!("{} where ties {}", listed(&order.first, name), rule(order.ties));
        format!("Yes. First is {}.", orders.iter().map(by_rule).collect::<Vec<_>>().join("; "))
    };
    let moved = largest_rank_move(orders).and_then(|order| Some((rule(order.ties), order.largest_move.as_ref()?)));
    match moved {
        Some((rule, moved)) => {
            let (model, from, to) = (name(&moved.model), moved.published, moved.place);
            format!("{first} The largest move: {model} from place {from} to {to} where ties {rule}.")
        }
        None => format!("{first} No model changes its place."),
    }
}

fn rules(orders: &[TieOrder]) -> String {
    let rules: Vec<&str> = orders.iter().map(|order| rule(order.ties)).collect();
    match rules.as_slice() {
        [others @ .., last] if !others.is_empty() => format!("{} or {last}", others.join(", ")),
        all => all.join(""),
    }
}

fn rule(ties: TieTreatment) -> &'static str {
    match ties {
        TieTreatment::Half => "count half a win",
        TieTreatment::Drop => "are left out",
        TieTreatment::Davidson => "are modelled after Davidson",
        TieTreatment::RaoKupper => "are modelled after Rao and Kupper",
    }
}

fn voters(found: &VoterConsistency) -> String {
    let VoterConsistency { min_votes, active, against, votes_against, deciles, .. } = found;
    let said = match (active, against) {
        (0, _) => return format!("Too early to say: no voter has {min_votes} votes for one side."),
        (_, 0) => format!(
            "None of the {active} voters with {min_votes} votes or more for one side clearly votes against the rest."
        ),
        _ => format!(
            "Voters who clearly vote against the rest: {against} of the {active} with {min_votes} votes or more for one side, who cast \
             {}.",
            counted(votes_against, "vote", "votes")
        ),
    };
    format!(
        "{said} On a scale from 0 (always against the crowd) over 0.5 (guessing) to 1 (always with it), the middle voter is at \
         {:.2}. Every vote still counts the same.",
        median(deciles)
    )
}

fn listed(models: &[String], name: &Naming<'_>) -> String {
    let names: Vec<String> = models.iter().map(|model| name(model)).collect();
    match names.as_slice() {
        [others @ .., last] if !others.is_empty() => format!("{} and {last}", others.join(", ")),
        all => all.concat(),
    }
}
