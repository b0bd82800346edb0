//! Cached replies of models that labelled texts.

use crate::domain::battle::ModelId;
use crate::domain::time::Timestamp;
use crate::metrics::store_time;
use crate::storage::{Store, StoreError, on_reader, on_writer};

const INSERT: &str = "INSERT INTO label_replies (model, request_sha256, label, created_at) VALUES ($1, $2, $3, $4) \
     ON CONFLICT DO NOTHING";
const SELECT: &str = "SELECT label FROM label_replies WHERE model = $1 AND request_sha256 = $2";

impl Store {
    /// Stores the label of a reply, if any; an existing one stays.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn put_label_reply(
        &self,
        model: &ModelId,
        request_sha256: &str,
        label: Option<&str>,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let _time = store_time("put_label_reply");
        on_writer!(self, |connection| {
            let insert = sqlx::query(INSERT).bind(model.as_str()).bind(request_sha256).bind(label).bind(now.0);
            insert.execute(&mut *connection).await.map(drop)
        })
    }

    /// Reads the label of a model's earlier reply to a request; `None` if there was none.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn label_reply(
        &self,
        model: &ModelId,
        request_sha256: &str,
    ) -> Result<Option<Option<String>>, StoreError> {
        let _time = store_time("label_reply");
        on_reader!(self, |pool| {
            sqlx::query_scalar(SELECT).bind(model.as_str()).bind(request_sha256).fetch_optional(pool).await
        })
    }
}
