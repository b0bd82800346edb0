use proptest::prelude::*;

use super::*;

/// A pacer without a reserve that is polled every 50 ms.
struct Watched {
    pacer: Pacer,
    at: Duration,
}

impl Watched {
    fn common(quantum: usize) -> Self {
        Self { pacer: Pacer::new(Pace::Common { reserve: Duration::ZERO }, quantum, 1), at: Duration::ZERO }
    }

    fn push(&mut self, side: Side, text: &str) {
        self.pacer.push(side, text, self.at);
    }

    fn end(&mut self, side: Side, ending: Ending) {
        self.pacer.end(side, ending, self.at);
    }

    fn step(&mut self) -> Vec<Release> {
        let shown = self.pacer.step(self.at);
        self.at += MIN_STEP_INTERVAL;
        shown
    }
}

/// Plays two texts, cut into chunks in any interleaving, and returns what is shown.
fn play(pacer: &mut Watched, arrivals: &[(Side, &str)], impatient: bool) -> Vec<Release> {
    let mut shown = Vec::new();
    for (side, text) in arrivals {
        pacer.push(*side, text);
        if impatient {
            shown.extend(pacer.step());
        }
    }
    for side in [Side::B, Side::A] {
        pacer.end(side, Ending::Complete);
    }
    while !pacer.pacer.finished() {
        shown.extend(pacer.step());
    }
    shown
}

fn text_of(shown: &[Release], wanted: Side) -> String {
    shown
        .iter()
        .filter_map(|release| match release {
            Release::Text(side, text) if *side == wanted => Some(text.as_str()),
            _ => None,
        })
        .collect()
}

proptest! {
    #[test]
    fn chunks_depend_on_the_texts_alone(
        a in "[a-z琅琊é😀 ]{0,60}", b in "[a-z琅琊é😀 ]{0,60}",
        cuts in proptest::collection::vec((any::<bool>(), 1usize..9), 0..60),
        impatient: bool,
    ) {
        let whole = play(&mut Watched::common(7), &[(Side::A, &a), (Side::B, &b)], false);
        let mut rest = [a.as_str(), b.as_str()];
        let mut arrivals = Vec::new();
        for (first, size) in cuts {
            let side = if first { Side::A } else { Side::B };
            let text = rest[side.index()];
            let cut = text.char_indices().nth(size).map_or(text.len(), |(at, _)| at);
            arrivals.push((side, &text[..cut]));
            rest[side.index()] = &text[cut..];
        }
        arrivals.extend([(Side::A, rest[0]), (Side::B, rest[1])]);
        let cut_up = play(&mut Watched::common(7), &arrivals, impatient);
        prop_assert_eq!(&whole, &cut_up);
        prop_assert_eq!(text_of(&whole, Side::A), a);
        prop_assert_eq!(text_of(&whole, Side::B), b);
    }
}

#[test]
fn nothing_shows_until_both_sides_can_start() {
    let mut pacer = Watched::common(3);
    pacer.push(Side::A, "abcdef");
    assert_eq!(pacer.step(), []);
    pacer.push(Side::B, "uvw");
    assert_eq!(pacer.step(), [], "exactly one quantum might be the end: wait until it is known");
    pacer.push(Side::B, "x");
    assert_eq!(pacer.step(), [Release::Text(Side::A, "abc".into()), Release::Text(Side::B, "uvw".into())]);
}

#[test]
fn a_side_that_has_ended_no_longer_holds_the_other_back() {
    let mut pacer = Watched::common(3);
    pacer.push(Side::A, "ab");
    pacer.push(Side::B, "uvwxyz");
    pacer.end(Side::A, Ending::Broken);
    assert_eq!(
        pacer.step(),
        [Release::Text(Side::A, "ab".into()), Release::Broken(Side::A), Release::Text(Side::B, "uvw".into())]
    );
    assert_eq!(pacer.step(), [], "the other still waits for more than a quantum of its own");
    pacer.end(Side::B, Ending::Complete);
    assert_eq!(pacer.step(), [Release::Text(Side::B, "xyz".into()), Release::Done(Side::B)]);
    assert!(pacer.pacer.finished());
}

#[test]
fn a_released_chunk_holds_no_more_than_its_own_text() {
    let mut pacer = Watched::common(3);
    pacer.push(Side::A, &"a".repeat(100_000));
    pacer.push(Side::B, &"b".repeat(100_000));
    for release in (0..10).flat_map(|_| pacer.step()) {
        let Release::Text(_, text) = release else { panic!("{release:?}") };
        assert!(text.capacity() < 100, "{}", text.capacity());
    }
}

#[test]
fn the_backlog_is_what_came_and_was_not_shown() {
    let mut pacer = Watched::common(3);
    pacer.push(Side::A, "琅琊abcdef");
    pacer.push(Side::B, "uvwxyz");
    assert_eq!((pacer.pacer.backlog(Side::A), pacer.pacer.backlog(Side::B)), (12, 6));
    pacer.step();
    assert_eq!((pacer.pacer.backlog(Side::A), pacer.pacer.backlog(Side::B)), (5, 3));
    pacer.pacer.cut();
    assert_eq!((pacer.pacer.backlog(Side::A), pacer.pacer.backlog(Side::B)), (0, 0));
}

#[test]
fn raw_passes_on_what_has_come() {
    let mut pacer = Pacer::new(Pace::Raw, 12, 1);
    pacer.push(Side::B, "x", Duration::ZERO);
    assert_eq!(pacer.step(Duration::ZERO), [Release::Text(Side::B, "x".into())]);
    assert_eq!(pacer.step(Duration::ZERO), []);
}

#[test]
fn a_cut_ends_both_sides_where_they_are_seen() {
    let mut pacer = Watched::common(3);
    pacer.push(Side::A, "abcdefghijkl");
    pacer.push(Side::B, "uvwx");
    assert_eq!(pacer.step().len(), 2);
    assert_eq!(pacer.pacer.cut(), [Release::Done(Side::A), Release::Done(Side::B)]);
    assert!(pacer.pacer.finished());
}

fn millis(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// A reply of one quantum of twelve characters each `gap` milliseconds from `first` on.
fn even(side: Side, first: u64, gap: u64, steps: u64) -> Vec<(u64, Side, Option<&'static str>)> {
    let text = (0..steps).map(|step| (first + gap * step, side, Some("abcdefghijkl")));
    text.chain([(first + gap * steps, side, None)]).collect()
}

/// Plays these arrivals and returns the times of the steps in milliseconds.
fn moments(pace: Pace, arrivals: Vec<(u64, Side, Option<&str>)>) -> Vec<u64> {
    moments_with(Pacer::new(pace, 12, 1), arrivals)
}

fn moments_with(mut pacer: Pacer, mut arrivals: Vec<(u64, Side, Option<&str>)>) -> Vec<u64> {
    arrivals.sort_by_key(|(at, ..)| *at);
    let (mut at, mut steps) = (0, Vec::new());
    while !pacer.finished() {
        for (_, side, came) in arrivals.extract_if(.., |(when, ..)| *when <= at) {
            match came {
                Some(text) => pacer.push(side, text, millis(at)),
                None => pacer.end(side, Ending::Complete, millis(at)),
            }
        }
        if !pacer.step(millis(at)).is_empty() || pacer.finished() {
            steps.push(at);
        }
        at += 1;
    }
    steps
}

fn gaps(steps: &[u64]) -> Vec<u64> {
    steps.windows(2).map(|pair| pair[1] - pair[0]).collect()
}

const COMMON: Pace = Pace::Common { reserve: Duration::from_millis(1_200) };

#[test]
fn a_pause_within_the_reserve_does_not_show() {
    let mut slow = even(Side::A, 500, 100, 100);
    slow.iter_mut().filter(|(at, ..)| *at > 5_000).for_each(|(at, ..)| *at += 800);
    let steps = moments(COMMON, [slow, even(Side::B, 300, 20, 100)].concat());
    let gaps = gaps(&steps);
    assert!(gaps.iter().all(|gap| gap.abs_diff(gaps[0]) <= 1) && gaps[0] >= 108, "{gaps:?}");
    assert!((1_700..2_000).contains(&steps[0]), "{}", steps[0]);
}

#[test]
fn the_slower_model_sets_the_tempo_also_after_its_reply_has_ended() {
    for (slow, fast) in [(30, 90), (90, 30)] {
        let steps = moments(COMMON, [even(Side::A, 500, 200, slow), even(Side::B, 300, 20, fast)].concat());
        let gaps = gaps(&steps);
        assert_eq!(steps.len(), 90);
        // 6 % slower than measured, and a twelfth because six gaps are few.
        assert!(gaps.iter().all(|gap| gap.abs_diff(230) <= 3), "{gaps:?}");
    }
}

/// The same in Chinese: with as many bytes, a third of the characters comes every `gap` milliseconds.
fn even_in_chinese(side: Side, first: u64, gap: u64, steps: u64) -> Vec<(u64, Side, Option<&'static str>)> {
    let text = (0..3 * steps).map(|third| (first + gap * third, side, Some("一二三四")));
    text.chain([(first + gap * 3 * steps, side, None)]).collect()
}

#[test]
fn the_tempo_is_that_of_the_denser_script_whoever_writes_in_it() {
    let slow_in_chinese = [even_in_chinese(Side::A, 500, 100, 40), even(Side::B, 300, 20, 60)].concat();
    let slow_in_english = [even(Side::A, 500, 100, 60), even_in_chinese(Side::B, 300, 20, 40)].concat();
    for pace in [COMMON, Pace::Whole { starts: DurationClasses::new([]), reserve: millis(1_200) }] {
        let [one, other] = [&slow_in_chinese, &slow_in_english].map(|replies| moments(pace.clone(), replies.clone()));
        assert_eq!((one.len(), other.len()), (60, 60));
        let apart = |at: usize| one[at].abs_diff(other[at]) * 100 / one[at];
        assert!((0..60).all(|at| apart(at) <= 5), "{one:?} {other:?}");
    }
}

#[test]
fn few_chinese_words_take_as_long_whichever_model_writes_them() {
    for (gap, steps) in [(200, 2), (200, 3), (300, 2), (300, 3), (400, 2)] {
        let slow_is_short = [even_in_chinese(Side::A, 500, gap, steps), even(Side::B, 300, 20, 40)].concat();
        let slow_is_long = [even(Side::A, 500, gap, 40), even_in_chinese(Side::B, 300, 20, steps)].concat();
        let [one, other] = [slow_is_short, slow_is_long].map(|replies| moments(COMMON, replies));
        assert_eq!((one.len(), other.len()), (40, 40));
        let apart = |at: usize| one[at].abs_diff(other[at]) * 100 / one[at];
        assert!((0..40).all(|at| apart(at) <= 5), "{gap}, {steps}: {one:?} {other:?}");
    }
}

/// A one-word reply that ends after 5 ms.
fn word(side: Side, at: u64) -> Vec<(u64, Side, Option<&'static str>)> {
    vec![(at, side, Some("word")), (at + 5, side, None)]
}

#[test]
fn beside_a_word_text_comes_no_faster_than_the_slower_model_usually_writes_whichever_wrote_it() {
    for slow in Side::BOTH {
        let quick = slow.other();
        for replies in [
            [word(slow, 500), even(quick, 300, 20, 40)].concat(),
            [even(slow, 500, 600, 40), word(quick, 300)].concat(),
        ] {
            let mut pacer = Pacer::new(COMMON, 12, 1);
            pacer.set_usual_byte_time(slow, millis(50));
            pacer.set_usual_byte_time(quick, millis(2));
            let steps = moments_with(pacer, replies);
            let gaps = gaps(&steps);
            assert_eq!(steps.len(), 40);
            // Twelve bytes of 50 ms, a fifth slower than usual, and 6 % slower than that.
            assert!(gaps.iter().all(|gap| gap.abs_diff(763) <= 2), "{slow:?}: {gaps:?}");
        }
    }
}

#[test]
fn beside_a_word_of_a_model_that_once_stalled_text_still_comes_within_seconds() {
    let mut pacer = Pacer::new(COMMON, 12, 1);
    pacer.set_usual_byte_time(Side::A, millis(60_000));
    let steps = moments_with(pacer, [word(Side::A, 500), even(Side::B, 300, 20, 40)].concat());
    let gaps = gaps(&steps);
    assert!(gaps.iter().all(|gap| gap.abs_diff(1_696) <= 2), "a pause of 1.6 s, and 6 % more: {gaps:?}");
}

#[test]
fn raw_text_waits_for_no_usual_speed_and_shows_none() {
    let mut pacer = Pacer::new(Pace::Raw, 12, 1);
    Side::BOTH.into_iter().for_each(|side| pacer.set_usual_byte_time(side, millis(60_000)));
    for word in 0..20 {
        pacer.push(Side::A, "word ", millis(100) * word);
        assert_eq!(pacer.due(millis(100) * word), Some(Duration::ZERO));
        assert_eq!(pacer.step(millis(100) * word), [Release::Text(Side::A, "word ".into())]);
    }
    pacer.end(Side::A, Ending::Complete, millis(2_000));
    assert_eq!(pacer.byte_time(Side::A), None);
}

#[test]
fn a_reply_that_has_ended_shows_how_fast_its_model_writes() {
    let mut pacer = Pacer::new(COMMON, 12, 1);
    // A line every 2.4 seconds: pauses count, and the first line does not.
    for line in 0..9 {
        pacer.push(Side::A, "abcdefghijkl", millis(2_400) * line);
        assert_eq!(pacer.byte_time(Side::A), None, "it goes on");
    }
    pacer.end(Side::A, Ending::Complete, millis(30_000));
    assert_eq!(pacer.byte_time(Side::A), Some(millis(200)));
    pacer.push(Side::B, "a word", millis(100));
    pacer.push(Side::B, " or two", millis(200));
    pacer.end(Side::B, Ending::Complete, millis(300));
    assert_eq!(pacer.byte_time(Side::B), None, "a single gap is no tempo");
}

#[test]
fn an_accent_does_not_slow_a_reply_down() {
    for quantum in [12, 1] {
        let ends = ["naïve", "naive"].map(|word| {
            let mut pacer = Pacer::new(COMMON, quantum, 1);
            let texts: Vec<&str> = std::iter::once(word).chain(["plain"; 60]).collect();
            let (mut at, mut came) = (Duration::ZERO, 0);
            while !pacer.finished() {
                at += millis(10);
                if came < texts.len() && at >= millis(100) * u32::try_from(came).unwrap() {
                    Side::BOTH.into_iter().for_each(|side| pacer.push(side, texts[came], at));
                    came += 1;
                } else if came == texts.len() {
                    Side::BOTH.into_iter().for_each(|side| pacer.end(side, Ending::Complete, at));
                }
                pacer.step(at);
            }
            at
        });
        assert!(ends[0] <= ends[1] + ends[1] / 50, "{quantum}: {ends:?}");
    }
}

/// Reads like a turn: at most 64 KiB ahead of the visible text.
#[test]
fn a_long_reply_beside_a_denser_one_never_waits_for_text_that_is_not_read() {
    const MAX_READ_AHEAD: usize = 64 << 10;
    let (mut pacer, mut at, mut left) = (Pacer::new(COMMON, 12, 1), Duration::ZERO, 250_000);
    pacer.push(Side::A, &"👍".repeat(100), at);
    pacer.end(Side::A, Ending::Complete, at);
    while !pacer.finished() {
        at += millis(10);
        if left > 0 && pacer.backlog(Side::B) < MAX_READ_AHEAD {
            pacer.push(Side::B, &"x".repeat(1_000), at);
            left -= 1_000;
        } else if left == 0 {
            pacer.end(Side::B, Ending::Complete, at);
        }
        let due = pacer.due(at);
        assert!(due.is_some() || pacer.backlog(Side::B) < MAX_READ_AHEAD, "stuck with {left} characters to come");
        at = due.map_or(at, |due| if left == 0 || pacer.backlog(Side::B) >= MAX_READ_AHEAD { at.max(due) } else { at });
        pacer.step(at);
    }
}

/// A reply of three quanta, and the rest after a stall of 20 seconds.
fn stalling(side: Side) -> Vec<(u64, Side, Option<&'static str>)> {
    let mut reply = even(side, 500, 100, 60);
    reply.iter_mut().filter(|(at, ..)| *at > 700).for_each(|(at, ..)| *at += 20_000);
    reply
}

#[test]
fn a_model_that_stalls_after_its_first_words_shows_them_after_four_reserves() {
    for (stalls, quick) in [(Side::A, Side::B), (Side::B, Side::A)] {
        for (quick_reply, next) in [(even(quick, 300, 20, 100), 5_600), (even_in_chinese(quick, 300, 20, 100), 6_000)] {
            let steps = moments(COMMON, [stalling(stalls), quick_reply].concat());
            assert_eq!(steps[0], 600 + 4_800, "the second quantum showed that the first is no end");
            assert!(steps[1] < next && steps[2] > 20_700, "{:?}", &steps[..4]);
        }
    }
}

#[test]
fn after_a_start_without_a_reserve_the_next_pause_fills_it() {
    let mut stalls = stalling(Side::A);
    stalls.iter_mut().filter(|(at, ..)| *at > 23_000).for_each(|(at, ..)| *at += 4_000);
    let steps = moments(COMMON, [stalls, even(Side::B, 300, 20, 100)].concat());
    let gaps = gaps(&steps);
    assert!(gaps[2..].iter().all(|gap| gap.abs_diff(gaps[2]) <= 30), "the second stall of 4 seconds shows: {gaps:?}");
}

#[test]
fn whole_replies_wait_for_a_model_that_stalls() {
    let pace = Pace::Whole { starts: DurationClasses::new([]), reserve: millis(1_200) };
    let steps = moments(pace, [stalling(Side::A), even(Side::B, 300, 20, 100)].concat());
    assert!(steps[0] > 26_000, "{}", steps[0]);
}

/// A reply with one quantum of this text after each of these gaps.
fn uneven(side: Side, quantum: &'static str, gaps: &[u64]) -> Vec<(u64, Side, Option<&'static str>)> {
    let mut at = 0;
    let quanta = gaps.iter().map(|gap| {
        at += gap;
        (at, side, Some(quantum))
    });
    let mut reply: Vec<_> = quanta.collect();
    reply.push((at, side, None));
    reply
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn text_that_both_sides_have_waits_four_reserves_at_the_most(
        a in proptest::collection::vec(0u64..4_000, 2..12), b in proptest::collection::vec(0u64..4_000, 2..12),
        a_is_chinese: bool,
    ) {
        let text_of_a = if a_is_chinese { "一二三四五六七八九十百千" } else { "abcdefghijkl" };
        let replies = [uneven(Side::A, text_of_a, &a), uneven(Side::B, "abcdefghijkl", &b)];
        let steps = moments(COMMON, replies.concat());
        let came = |gaps: &[u64], step: usize| gaps.iter().take(step + 2).sum::<u64>();
        // The last step of a reply is due when the next one would have come, had it gone on.
        for step in 0..a.len().min(b.len()) - 1 {
            let since = came(&a, step).max(came(&b, step)).max(step.checked_sub(1).map_or(0, |before| steps[before]));
            prop_assert!(steps[step] <= since + 4_800, "step {} came {} ms late: {:?}", step, steps[step] - since, steps);
        }
    }
}

fn in_classes(start: f64, tempo: f64) -> Pace {
    Pace::Classes {
        reserve: millis(1_200),
        starts: DurationClasses::new([millis(3_000), millis(15_000)]),
        intervals: DurationClasses::new([millis(100), millis(400)]),
        slow_share: 0.5,
        draw: ClassDraw { start, tempo },
    }
}

#[test]
fn a_battle_has_the_class_that_it_drew_or_the_first_that_it_can_keep() {
    let quick = || [even(Side::A, 500, 20, 50), even(Side::B, 300, 20, 60)].concat();
    let slow = || [even(Side::A, 4_000, 500, 20), even(Side::B, 300, 20, 60)].concat();
    for (arrivals, draw, start, gap) in [
        (quick(), (0.9, 0.9), 3_000, 100),
        (quick(), (0.1, 0.9), 15_000, 100),
        (quick(), (0.9, 0.1), 3_000, 400),
        (slow(), (0.9, 0.9), 15_000, 800),
    ] {
        let steps = moments(in_classes(draw.0, draw.1), arrivals);
        let gaps = gaps(&steps);
        assert_eq!(steps[0], start);
        assert!(gaps.iter().all(|each| each.abs_diff(gap) <= 1), "{gap}: {gaps:?}");
    }
    let none = DurationClasses::new([]);
    assert_eq!((none.holding(millis(7)), none.drawn(0.0, 1.0)), (millis(7), Duration::ZERO));
    let three = DurationClasses::new([3, 1, 2].map(millis));
    assert_eq!([0.1, 0.5, 0.7, 0.8].map(|draw| three.drawn(draw, 0.5)), [3, 1, 1, 2].map(millis));
    assert_eq!(three.holding(millis(7)), millis(9));
}

#[test]
fn whole_replies_begin_when_the_slower_model_would_have_written_the_longer_one() {
    let pace = || Pace::Whole { starts: DurationClasses::new([]), reserve: millis(1_200) };
    let mut starts = Vec::new();
    for (slow, fast) in [(30, 90), (90, 30)] {
        let steps = moments(pace(), [even(Side::A, 500, 200, slow), even(Side::B, 300, 20, fast)].concat());
        assert!(gaps(&steps).iter().all(|gap| *gap == 50));
        starts.push(steps[0]);
    }
    assert!(starts[0].abs_diff(starts[1]) < 300 && starts[1] >= 18_500, "{starts:?}");
}
