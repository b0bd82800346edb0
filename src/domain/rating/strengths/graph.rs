//! Comparison graph, decomposed before any fit.
//!
//! The likelihood has a finite maximum if every model is reachable from every other along "won or tied against" (Ford
//! 1957). [`decompose`] repeatedly peels off models that only won or only lost, which do not affect the ratings of the
//! others, and splits the rest into strongly connected components, each rated separately.

use std::collections::{BTreeMap, VecDeque};

use super::super::counts::tally::PairTally;
use super::fit::{Bridge, Direction};

#[derive(Debug)]
pub(in crate::rating) struct GraphLayout {
    /// Position of each model.
    pub(in crate::rating) places: Vec<ModelPosition>,
    /// Models inside each component, largest component first. A component of two models of which one won every vote has
    /// no models inside.
    pub(in crate::rating) components: Vec<Vec<usize>>,
    /// One-way votes between components.
    pub(in crate::rating) bridges: Vec<Bridge>,
}

/// Position of a model relative to the components.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::rating) enum ModelPosition {
    /// Rated within a component.
    Inside(usize),
    /// Unbounded: above or below every model of a component.
    Beyond(usize, Direction),
}

/// Decomposes the graph. Every model must have a vote.
pub(in crate::rating) fn decompose(models: usize, pairs: &[PairTally]) -> GraphLayout {
    let graph = Graph::new(models, pairs);
    let peeled = graph.remove_one_sided_models();
    let mut beyond = vec![None; models];
    peeled.iter().for_each(|&(model, direction)| beyond[model] = Some(direction));
    let pairs_apart = graph.lone_pairs(&mut beyond);
    let inside: Vec<bool> = beyond.iter().map(Option::is_none).collect();
    let mut components = graph.strong_components(&inside);
    let mut peeled: Vec<usize> = peeled.into_iter().map(|(model, _)| model).collect();
    peeled.retain(|model| !pairs_apart.iter().any(|&(a, b)| a == *model || b == *model));
    for model in unmeasured_models(pairs, &inside, &peeled) {
        beyond[model] = None;
        components.push(vec![model]);
    }
    components.sort_by_key(|members| (std::cmp::Reverse(members.len()), members[0]));
    let mut labels = vec![None; models];
    for (label, members) in components.iter().enumerate() {
        members.iter().for_each(|&model| labels[model] = Some(label));
    }
    for (a, b) in pairs_apart {
        (labels[a], labels[b]) = (Some(components.len()), Some(components.len()));
        components.push(Vec::new());
    }
    let bridges = bridges(pairs, &labels);
    graph.spread(&mut labels);
    let places = (0..models).map(|model| model_position(labels[model], beyond[model])).collect();
    GraphLayout { places, components, bridges }
}

fn model_position(label: Option<usize>, beyond: Option<Direction>) -> ModelPosition {
    let label = label.expect("peeling leaves a model in every part of the graph, and labels spread from it");
    beyond.map_or(ModelPosition::Inside(label), |direction| ModelPosition::Beyond(label, direction))
}

/// Finds unbounded models that met only models unbounded in the opposite direction: no votes compare them with a rated model,
/// so each is a separate component. They are visited in reverse order of peeling, so a model that met only such a component is
/// measured against it.
fn unmeasured_models(pairs: &[PairTally], inside: &[bool], peeled: &[usize]) -> Vec<usize> {
    let mut grounded: Vec<usize> = (0..inside.len()).filter(|&model| inside[model]).collect();
    let mut found = Vec::new();
    for &model in peeled.iter().rev() {
        grounded.push(model);
        let tied = strongly_connected_with(inside.len(), pairs, &grounded);
        let met =
            |pair: &PairTally| (pair.first == model && tied[pair.second]) || (pair.second == model && tied[pair.first]);
        if pairs.iter().any(met) {
            grounded.pop();
        } else {
            found.push(model);
        }
    }
    found
}

/// Collects the one-way votes between components, by pair of models.
fn bridges(pairs: &[PairTally], labels: &[Option<usize>]) -> Vec<Bridge> {
    let apart = |pair: &&PairTally| match (labels[pair.first], labels[pair.second]) {
        (Some(one), Some(other)) => one != other,
        _ => false,
    };
    pairs
        .iter()
        .filter(apart)
        .map(|pair| {
            let first_won = pair.first_wins > 0.0;
            let (winner, loser) = if first_won { (pair.first, pair.second) } else { (pair.second, pair.first) };
            Bridge { winner, loser, votes: pair.first_wins + pair.second_wins }
        })
        .collect()
}

/// Marks the models in the strongly connected component of `members`, with these connected to one another.
pub(super) fn strongly_connected_with(models: usize, pairs: &[PairTally], members: &[usize]) -> Vec<bool> {
    let mut graph = Graph::new(models, pairs);
    for neighbours in members.windows(2) {
        graph.connect(neighbours[0], neighbours[1]);
        graph.connect(neighbours[1], neighbours[0]);
    }
    let start = members[0];
    let (ahead, behind) = (graph.reach(start, &graph.beaten), graph.reach(start, &graph.beaten_by));
    ahead.iter().zip(&behind).map(|(&ahead, &behind)| ahead && behind).collect()
}

/// Whether each of `members` is reachable from every other along "won or tied against".
pub(in crate::rating) fn connected_both_ways(models: usize, pairs: &[PairTally], members: &[usize]) -> bool {
    let graph = Graph::new(models, pairs);
    let all = |seen: &[bool]| members.iter().all(|&model| seen[model]);
    members
        .first()
        .is_none_or(|&start| all(&graph.reach(start, &graph.beaten)) && all(&graph.reach(start, &graph.beaten_by)))
}

/// Edges from each model to those it won or tied against, and the reverse edges.
struct Graph {
    beaten: Vec<Vec<usize>>,
    beaten_by: Vec<Vec<usize>>,
}

impl Graph {
    fn new(models: usize, pairs: &[PairTally]) -> Self {
        let mut graph = Self { beaten: vec![Vec::new(); models], beaten_by: vec![Vec::new(); models] };
        for pair in pairs {
            if pair.points_first() > 0.0 {
                graph.connect(pair.first, pair.second);
            }
            if pair.points_second() > 0.0 {
                graph.connect(pair.second, pair.first);
            }
        }
        graph
    }

    fn connect(&mut self, winner: usize, loser: usize) {
        self.beaten[winner].push(loser);
        self.beaten_by[loser].push(winner);
    }

    /// Peels off models that only won or only lost against the remaining models. Returns them in order of removal, winners first.
    fn remove_one_sided_models(&self) -> Vec<(usize, Direction)> {
        let mut there = vec![true; self.beaten.len()];
        let mut peeled = Vec::new();
        loop {
            let turn = [Direction::Above, Direction::Below]
                .into_iter()
                .find_map(|direction| Some(self.extremes(&there, direction)).filter(|found| !found.is_empty()));
            let Some(turn) = turn else { return peeled };
            turn.iter().for_each(|&(model, _)| there[model] = false);
            peeled.extend(turn);
        }
    }

    /// Finds the remaining models that only won, or only lost, against other remaining models.
    fn extremes(&self, there: &[bool], direction: Direction) -> Vec<(usize, Direction)> {
        let met = |others: &[usize]| others.iter().any(|&other| there[other]);
        let extreme = |&model: &usize| match direction {
            Direction::Above => met(&self.beaten[model]) && !met(&self.beaten_by[model]),
            Direction::Below => met(&self.beaten_by[model]) && !met(&self.beaten[model]),
        };
        (0..there.len()).filter(|&model| there[model]).filter(extreme).map(|model| (model, direction)).collect()
    }

    /// Finds pairs of models that met only each other, where one won every time: neither is a reference for the other, so both are
    /// unbounded.
    fn lone_pairs(&self, beyond: &mut [Option<Direction>]) -> Vec<(usize, usize)> {
        let mut found = Vec::new();
        for (loser, (won, lost)) in self.beaten.iter().zip(&self.beaten_by).enumerate() {
            let ([], [winner]) = (won.as_slice(), lost.as_slice()) else { continue };
            if self.beaten[*winner].len() == 1 && self.beaten_by[*winner].is_empty() {
                beyond[loser] = Some(Direction::Below);
                found.push((*winner.min(&loser), *winner.max(&loser)));
            }
        }
        found
    }

    /// Finds the strongly connected components of the models inside, each in ascending order.
    fn strong_components(&self, inside: &[bool]) -> Vec<Vec<usize>> {
        let mut component: Vec<Option<usize>> = vec![None; inside.len()];
        let mut members = Vec::new();
        for &root in self.finish_order(inside).iter().rev() {
            if component[root].is_some() {
                continue;
            }
            let label = members.len();
            component[root] = Some(label);
            let (mut found, mut open) = (vec![root], vec![root]);
            while let Some(model) = open.pop() {
                for &next in self.beaten_by[model].iter().filter(|&&next| inside[next]) {
                    if component[next].is_none() {
                        component[next] = Some(label);
                        found.push(next);
                        open.push(next);
                    }
                }
            }
            found.sort_unstable();
            members.push(found);
        }
        members
    }

    /// Returns the models inside in the finishing order of a depth-first search (first pass of Kosaraju's algorithm).
    fn finish_order(&self, inside: &[bool]) -> Vec<usize> {
        let mut seen: Vec<bool> = inside.iter().map(|inside| !inside).collect();
        let mut order = Vec::new();
        for root in 0..inside.len() {
            if std::mem::replace(&mut seen[root], true) {
                continue;
            }
            let mut path = vec![(root, 0)];
            while let Some((model, edge)) = path.pop() {
                match self.beaten[model].get(edge) {
                    Some(&next) => {
                        path.push((model, edge + 1));
                        if !std::mem::replace(&mut seen[next], true) {
                            path.push((next, 0));
                        }
                    }
                    None => order.push(model),
                }
            }
        }
        order
    }

    /// Gives each model without a label the label of the nearest labelled model.
    fn spread(&self, labels: &mut [Option<usize>]) {
        let mut by_label: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (model, label) in labels.iter().enumerate() {
            by_label.entry(label.unwrap_or(usize::MAX)).or_default().push(model);
        }
        by_label.remove(&usize::MAX);
        let mut open: VecDeque<usize> = by_label.into_values().flatten().collect();
        while let Some(model) = open.pop_front() {
            for &next in self.beaten[model].iter().chain(&self.beaten_by[model]) {
                if labels[next].is_none() {
                    labels[next] = labels[model];
                    open.push_back(next);
                }
            }
        }
    }

    fn reach(&self, start: usize, edges: &[Vec<usize>]) -> Vec<bool> {
        let mut seen = vec![false; edges.len()];
        seen[start] = true;
        let mut open = vec![start];
        while let Some(model) = open.pop() {
            for &next in &edges[model] {
                if !std::mem::replace(&mut seen[next], true) {
                    open.push(next);
                }
            }
        }
        seen
    }
}
