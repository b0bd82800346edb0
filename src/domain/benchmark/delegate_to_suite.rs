//! Delegation to a wrapped suite, for suites that change some of its requests.

/// Implements the methods of [`Suite`](super::Suite) by the field `suite`: all but the variant and those that build requests.
macro_rules! delegate_to_suite {
    () => {
        fn name(&self) -> &str {
            self.suite.name()
        }

        fn title(&self) -> &str {
            self.suite.title()
        }

        fn mode(&self) -> JudgeMode {
            self.suite.mode()
        }

        fn scale(&self) -> Scale {
            self.suite.scale()
        }

        fn category_title<'n>(&'n self, category: &'n str) -> &'n str {
            self.suite.category_title(category)
        }

        fn read(&self, bytes: &[u8]) -> Result<Vec<Item>, DataError> {
            self.suite.read(bytes)
        }

        fn parse(&self, item: &Item, reply: &str) -> Result<Verdict, VerdictError> {
            self.suite.parse(item, reply)
        }

        fn reminder(&self, item: &Item) -> String {
            self.suite.reminder(item)
        }

        fn item_score(&self, item: &Item, verdicts: &Verdicts<'_>) -> Option<f64> {
            self.suite.item_score(item, verdicts)
        }

        fn score_verdicts(&self, items: &[Item], verdicts: &Verdicts<'_>) -> Scores {
            self.suite.score_verdicts(items, verdicts)
        }
    };
}

pub(super) use delegate_to_suite;
