//! Annotators' judgements of an item in closed campaigns: while a campaign is open, annotators must not learn the others' judgements.

use crate::domain::campaign::item_judgement_summary::ItemJudgement;
use crate::metrics::store_time;
use crate::storage::{Store, StoreError, on_reader};

/// Judgements of excluded annotators are left out everywhere.
const SELECT: &str = "SELECT i.campaign, a.shown, j.judgement FROM campaign_items AS i \
     JOIN campaigns AS c ON c.id = i.campaign AND c.state = 'closed' \
     JOIN campaign_assignments AS a ON a.campaign = i.campaign AND a.item = i.item \
     JOIN campaign_judgements AS j ON j.assignment = a.id AND j.withdrawn_at IS NULL \
     WHERE i.name = $1 AND i.prompt = $2 AND NOT EXISTS (SELECT 1 FROM campaign_exclusions AS x \
     WHERE x.annotator = a.annotator AND x.withdrawn_at IS NULL) ORDER BY j.judged_at, j.id";

impl Store {
    /// Reads the judgements in closed campaigns about an item with this name and prompt.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn item_judgements(&self, name: &str, prompt: &str) -> Result<Vec<ItemJudgement>, StoreError> {
        let _time = store_time("item_judgements");
        let rows: Vec<(String, String, String)> =
            on_reader!(self, |pool| sqlx::query_as(SELECT).bind(name).bind(prompt).fetch_all(pool).await)?;
        let row = |(campaign, shown, judgement): (String, String, String)| {
            let bad = |column, value: &str| StoreError::Inconsistent {
                table: "campaign_judgements",
                column,
                row: campaign.clone(),
                value: value.to_owned(),
            };
            Ok(ItemJudgement {
                shown: serde_json::from_str(&shown).map_err(|_| bad("shown", &shown))?,
                judgement: serde_json::from_str(&judgement).map_err(|_| bad("judgement", &judgement))?,
                campaign: campaign.clone(),
            })
        };
        rows.into_iter().map(row).collect()
    }
}
