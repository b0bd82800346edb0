use std::sync::LazyLock;

use super::*;
use crate::benchmark::paper_claims::superclue::open_counts;

static CLAIMS: LazyLock<Vec<Claim>> = LazyLock::new(all);

/// Compares a claim's numbers with those of an independent computation.
#[track_caller]
fn check(id: &str, expected: &[f64], tolerance: f64) -> &'static Claim {
    let claim = CLAIMS.iter().find(|claim| claim.id == id).unwrap();
    let found: Vec<f64> = claim.numbers.iter().map(|number| number.ours).collect();
    assert_eq!(found.len(), expected.len(), "{id}: {found:?}");
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() <= tolerance, "{id}: {found} is not {expected}");
    }
    claim
}

#[test]
fn the_studies_of_superclue_come_out_as_computed_elsewhere() {
    check("S1", &[0.514_979, 0.191_549], 1e-4);
    check("S2", &[0.554_696, 0.153_593, 0.4001], 1e-4);
    check("S3", &[0.1077, 0.3411], 1e-4);
    check("S4", &[0.7950, 0.1079], 1e-4);
    check("S5", &[0.8747, 0.0522], 1e-4);
    check("S6", &[0.8985, 0.0382], 1e-4);
    check("S7", &[0.544, 0.456, 0.913_214, 0.0303], 1e-4);
    check("S8", &[0.490, 0.510, 0.939_677, 0.0176], 1e-4);
    check("S9", &[0.0, 1.0, 0.898_481, 0.0382], 1e-4);
    check("S10", &[0.49, 0.0, 0.51, 0.939_677, 0.0176], 1e-4);
    let pooled = check("S12", &[0.0, 0.0], 0.005);
    assert_eq!(pooled.numbers[0].printed.as_deref(), Some("33 ×"));
    assert_eq!(pooled.numbers[1].printed.as_deref(), Some("11 ×"));
    check("S24", &[65.22], 1e-9);
    check("S25", &[6.0], 0.0);
    check("S26", &[21.14, 57.94], 1e-9);
    check("S27", &[3.0, 3.0], 0.0);
}

#[test]
fn the_studies_of_the_other_papers_come_out_as_computed_elsewhere() {
    check("A2", &[0.0050], 1e-4);
    check("A3", &[0.9851, 0.9945, 0.9668], 1e-4);
    check("A7", &[58.33, 63.42, 55.86], 0.005);
    check("A8", &[12.40, 20.40, 7.80], 1e-9);
    check("M2", &[0.0046], 1e-4);
    let means =
        check("M3", &[7.52, 6.37, 8.26, 8.314, 8.827, 8.36, 8.44, 7.98, 6.93, 3.011, 4.255, 6.22, 5.52], 0.0051);
    let wrong: Vec<&str> = means
        .numbers
        .iter()
        .filter(|number| number.agrees == Some(false))
        .map(|number| number.name.en.as_str())
        .collect();
    assert_eq!(wrong, ["TS", "CC", "MR", "GR"]);
    for (at, exact) in [(3, 8.314), (4, 8.827), (9, 3.011), (10, 4.255)] {
        assert!((means.numbers[at].ours - exact).abs() < 1e-3, "{:?}", means.numbers[at]);
    }
    let urs = check("U4", &[0.0065], 1e-4);
    assert!(urs.says.en.contains("9 of 10 rows"), "{}", urs.says.en);
    check("U5", &[1030.0], 0.0);
}

#[test]
fn verdicts_are_what_the_numbers_say_and_every_contradiction_is_reported() {
    let claims = &*CLAIMS;
    let of = |verdict: ClaimVerdict| -> Vec<&str> {
        claims.iter().filter(|claim| claim.verdict == verdict).map(|claim| claim.id).collect()
    };
    assert_eq!(of(ClaimVerdict::Contradiction), ["S24", "S25", "S26", "S27", "A7", "M3", "U5"]);
    assert_eq!(of(ClaimVerdict::NotPrinted), ["A3"]);
    assert_eq!(
        of(ClaimVerdict::Reproduced),
        ["S1", "S2", "S3", "S4", "S5", "S6", "S7", "S8", "S9", "S10", "S12", "A2", "A8", "M2", "U4"]
    );
    for claim in claims {
        assert_eq!(claim.contradiction.is_some(), claim.verdict == ClaimVerdict::Contradiction, "{}", claim.id);
        for text in
            claim.contradiction.iter().chain([&claim.says]).chain(claim.numbers.iter().map(|number| &number.name))
        {
            assert!(!text.en.is_empty() && !text.zh.is_empty(), "{}: {text:?}", claim.id);
        }
    }
}

#[test]
fn a_printed_number_may_be_missed_by_half_of_its_last_digit() {
    let agrees = |printed: &str, ours: f64| {
        Number::compare_with_printed(BilingualText::new("n", "数"), printed, ours).agrees.unwrap()
    };
    assert!(agrees("0.11", 0.1077) && agrees("0.11", 0.115) && !agrees("0.11", 0.1151));
    assert!(agrees("7", 7.0) && !agrees("7", 6.0) && agrees("0.7950", 0.79495));
    let p = |under, p| Number::significance(BilingualText::new("p", "p"), under, p).agrees;
    assert_eq!([p(true, 0.0499), p(true, 0.0522), p(false, 0.0522)], [Some(true), Some(false), Some(true)]);
}

#[test]
fn counts_of_open_give_the_printed_share_of_every_capability() {
    let open = table("superclue_open");
    let mut cells = 0;
    for row in open_counts() {
        let turns = [("turn:1", row.first_good, row.first_all), ("turn:2", row.second_good, row.second_all)];
        for (turn, good, all) in turns.into_iter().filter(|(_, _, all)| *all > 0) {
            let printed = value(open, &row.subject, &format!("{}/{turn}", row.part));
            let ours = 100.0 * f64::from(good) / f64::from(all);
            assert!(
                (ours - printed).abs() < 0.0051,
                "{} {} {turn}: {good} of {all}, printed {printed}",
                row.subject,
                row.part
            );
            cells += 1;
        }
    }
    assert_eq!(cells, 219, "SparkDesk has no valid second answer in one capability");
}
