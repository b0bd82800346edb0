//! Texts on pacing: information in timing before the vote, and waiting times.

use crate::domain::battle::pacing::metrics::{PacingKind, PacingMetrics};

/// The pacing that is in force.
#[derive(Debug)]
pub struct PacingInForce {
    pub kind: PacingKind,
    pub start_classes_ms: Vec<u64>,
    pub tempo_classes: Vec<u32>,
    pub slow_class_share: f64,
}

/// The texts of one language.
pub struct PacingTexts {
    pub heading: &'static str,
    rule: fn(&PacingInForce) -> String,
    metrics: fn(&PacingMetrics) -> String,
    origin: &'static str,
}

impl PacingTexts {
    /// Describes the pacing in force, its protection and its waiting times.
    pub fn paragraphs(&self, pacing: &PacingInForce) -> Vec<String> {
        let mut paragraphs = vec![(self.rule)(pacing)];
        if let Some(metrics) = pacing.kind.metrics() {
            paragraphs.push((self.metrics)(&metrics));
            paragraphs.push(self.origin.to_owned());
        }
        paragraphs
    }
}

fn list<T>(values: &[T], show: impl Fn(&T) -> String, joint: &str) -> String {
    values.iter().map(show).collect::<Vec<_>>().join(joint)
}

fn seconds(ms: &u64) -> String {
    let (whole, rest) = (ms / 1000, ms % 1000);
    if rest == 0 { whole.to_string() } else { format!("{whole}.{rest:03}").trim_end_matches('0').to_owned() }
}

pub(super) const ENGLISH: PacingTexts = PacingTexts {
    heading: "What response times reveal before the vote",
    rule: |pacing| {
        let starts = list(&pacing.start_classes_ms, seconds, " or ");
        match pacing.kind {
            PacingKind::Common => "Pacing here is “common”: both replies begin together, some text of each is held back, and both go on at \
                the tempo of the slower model, even after one of them has ended. So timing does not reveal which side \
                is the slower model. It does reveal something about the pair as a whole."
                .to_owned(),
            PacingKind::Classes => format!(
                "Pacing here is “classes”: both replies begin together after {starts} seconds, or a multiple of the last, and \
                 go on at {} characters a second, or a fraction of the last, even after one of them has ended. However fast \
                 its models are, a battle gets the longest wait in {:.0} % of all cases, and the slowest tempo in \
                 as many. So timing does not reveal which side is the slower model, and reveals little about which models they are.",
                list(&pacing.tempo_classes, u32::to_string, " or "),
                100.0 * pacing.slow_class_share
            ),
            PacingKind::Whole => format!(
                "Pacing here is “whole”: both replies are held back until both have ended and the slower model would have \
                 written the longer one. They begin together after {starts} seconds, or a multiple of the last. So timing does \
                 not reveal which side is the slower model; the total time of both shows only in coarse steps."
            ),
            PacingKind::Raw => "Pacing here is “raw”: text appears as the models write it. Their speeds are visible before the vote, and anyone who knows \
                a model by its speed can identify the sides."
                .to_owned(),
        }
    },
    metrics: |metrics| {
        format!(
            "Measured: a classifier that sees only the timing, and knows the pair, identified the slower side in \
             {:.0} % of the battles, where guessing gives 50 %. It identified which of six pairs met in {:.0} % (guessing: 17 %), \
             whether a model that reasons before it writes took part in {:.0} %, and whether a slow one did in {:.0} % (guessing: 50 %). \
             The waiting that this costs: the first text came after {:.0} seconds at the median and within {:.0} seconds in nine battles of \
             ten; the vote opened after {:.0} seconds at the median and within {:.0} seconds in nine battles of ten.",
            metrics.side,
            metrics.pair,
            metrics.reasoning,
            metrics.slow,
            metrics.wait[0],
            metrics.wait[1],
            metrics.ready[0],
            metrics.ready[1]
        )
    },
    origin: "These numbers are from simulated battles of four models, a fast, a slow, a reasoning and a bursty one, with identical \
             texts of different lengths and the default settings. They apply if both replies were about the same work for their models: \
             if one reply needs far more work, such as a harder task, or is only a few words in another script, the timing can reveal its side. The text itself \
             may still reveal who wrote it.",
};

pub(super) const CHINESE: PacingTexts = PacingTexts {
    heading: "投票之前，时间会泄露什么",
    rule: |pacing| {
        let starts = list(&pacing.start_classes_ms, seconds, "、");
        match pacing.kind {
            PacingKind::Common => "本站采用“common”节奏：双方同时开始显示，各留一段文字不先放出，并按较慢模型能保持的速度继续，其中一方结束之后也是如此。因此，时间不会\
                泄露哪一边是较慢的模型；但它会透露这一对模型整体的一些情况。"
                .to_owned(),
            PacingKind::Classes => format!(
                "本站采用“classes”节奏：双方在 {starts} 秒（或最后一档的整数倍）后同时开始，以每秒 {} 个字符（或最后一档的几分之一）继续，其中一方结束之后也是如此。\
                 无论模型本来能多快，{:.0} % 的对战按最后一档等待，同样比例的对战采用最后一档速度。因此，时间不会泄露哪一边是较慢的模型，也很少透露是哪些模型。",
                list(&pacing.tempo_classes, u32::to_string, "、"),
                100.0 * pacing.slow_class_share
            ),
            PacingKind::Whole => format!(
                "本站采用“whole”节奏：两个回答都先留住，直到双方都已结束，并且较慢的模型也写得完较长的那个回答；然后在 {starts} 秒（或最后一档的整数倍）时同时开始显示。\
                 因此，时间不会泄露哪一边是较慢的模型；双方总共用了多久，则以档位显示出来。"
            ),
            PacingKind::Raw => {
                "本站采用“raw”节奏：文字随模型写出即时显示。投票之前看得出快慢，熟悉某个模型速度的人可以认出它在哪一边。".to_owned()
            }
        }
    },
    metrics: |metrics| {
        format!(
            "实测：只看时间、并且知道是哪一对模型的分类器，判断哪一边较慢的正确率为 {:.0} %（猜测为 50 %）；判断六对中是哪一对的正确率为 {:.0} %（猜测为 17 %）；\
             判断是否有先推理后作答的模型为 {:.0} %，是否有慢模型为 {:.0} %（猜测均为 50 %）。代价：首段文字出现时间的中位数为 {:.0} 秒，九成对战在 {:.0} 秒内开始显示；\
             可以投票的时间，中位数为 {:.0} 秒，九成对战在 {:.0} 秒内。",
            metrics.side,
            metrics.pair,
            metrics.reasoning,
            metrics.slow,
            metrics.wait[0],
            metrics.wait[1],
            metrics.ready[0],
            metrics.ready[1]
        )
    },
    origin: "以上数字来自模拟对战：快、慢、推理、成段输出四种模型，文字相同而长短不一，采用默认设置。这些数字适用于双方工作量相近的回复：若一方的工作量大得多（如题目更难），或者一方只用另一种文字写了几个字，对战的快慢就可能透露是哪一边。文字本身仍可能透露作者。",
};
