//! Images uploaded by visitors, and the battles that show them.

use sqlx_macros::FromRow;

use crate::domain::battle::message::{ImageType, PromptImage};
use crate::domain::battle::{BattleId, ImageId, VisitorId};
use crate::domain::time::Timestamp;
use crate::metrics::store_time;
use crate::storage::{Store, StoreError, on_reader, on_writer};

const INSERT: &str = "INSERT INTO images (id, visitor, media_type, width, height, file, created_at) \
     VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (id) DO NOTHING";
const SELECT_OWN: &str = "SELECT id, media_type, file FROM images WHERE id = $1 AND visitor = $2 AND visitor <> ''";
const IS_OWN: &str = "SELECT 1 FROM images WHERE id = $1 AND visitor = $2 AND visitor <> ''";
const SELECT_OF_BATTLE: &str = "SELECT images.id, media_type, file FROM battle_images \
     JOIN images ON images.id = battle_images.image_id WHERE battle_id = $1 ORDER BY position";
const SELECT_IDS: &str = "SELECT image_id FROM battle_images WHERE battle_id = $1 ORDER BY position";
const DELETE_UNUSED: &str = "DELETE FROM images WHERE created_at < $1 \
     AND NOT EXISTS (SELECT 1 FROM battle_images WHERE battle_images.image_id = images.id)";

/// Image to insert.
#[derive(Debug, Clone)]
pub struct NewImage {
    /// Id of the image.
    pub id: ImageId,
    /// Visitor who uploaded it.
    pub visitor: VisitorId,
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// The image file.
    pub image: PromptImage,
    /// Time of the upload.
    pub created_at: Timestamp,
}

#[derive(FromRow)]
struct RawImage {
    id: String,
    media_type: String,
    file: Vec<u8>,
}

impl TryFrom<RawImage> for PromptImage {
    type Error = StoreError;

    fn try_from(RawImage { id, media_type, file }: RawImage) -> Result<Self, StoreError> {
        let kind = ImageType::parse(&media_type).ok_or_else(|| StoreError::Inconsistent {
            table: "images",
            column: "media_type",
            row: id,
            value: media_type,
        })?;
        Ok(Self { media_type: kind, bytes: file.into() })
    }
}

impl Store {
    /// Inserts a visitor's image.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn insert_image(&self, new: &NewImage) -> Result<(), StoreError> {
        let _time = store_time("insert_image");
        on_writer!(self, |connection| {
            let query = sqlx::query(INSERT)
                .bind(new.id.as_str())
                .bind(new.visitor.as_str())
                .bind(new.image.media_type.as_str())
                .bind(i64::from(new.width))
                .bind(i64::from(new.height))
                .bind(&new.image.bytes[..])
                .bind(new.created_at.0);
            query.execute(connection).await.map(drop)
        })
    }

    /// Reads an image of this visitor.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn own_image(&self, visitor: &VisitorId, id: &ImageId) -> Result<Option<PromptImage>, StoreError> {
        let _time = store_time("own_image");
        let found: Option<RawImage> = on_reader!(self, |pool| {
            sqlx::query_as(SELECT_OWN).bind(id.as_str()).bind(visitor.as_str()).fetch_optional(pool).await
        })?;
        found.map(PromptImage::try_from).transpose()
    }

    /// Whether the image belongs to this visitor and still exists.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn has_image(&self, visitor: &VisitorId, id: &ImageId) -> Result<bool, StoreError> {
        let _time = store_time("has_image");
        let found: Option<i32> = on_reader!(self, |pool| {
            sqlx::query_scalar(IS_OWN).bind(id.as_str()).bind(visitor.as_str()).fetch_optional(pool).await
        })?;
        Ok(found.is_some())
    }

    /// Reads the ids of the images in the first prompt of a battle, in order.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn images_of(&self, battle: &BattleId) -> Result<Vec<ImageId>, StoreError> {
        let _time = store_time("images_of");
        let ids: Vec<String> =
            on_reader!(self, |pool| { sqlx::query_scalar(SELECT_IDS).bind(battle.as_str()).fetch_all(pool).await })?;
        Ok(ids.into_iter().map(ImageId::new).collect())
    }

    /// Reads the images in the first prompt of a battle, in order.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn battle_images(&self, battle: &BattleId) -> Result<Vec<PromptImage>, StoreError> {
        let _time = store_time("battle_images");
        let rows: Vec<RawImage> =
            on_reader!(self, |pool| { sqlx::query_as(SELECT_OF_BATTLE).bind(battle.as_str()).fetch_all(pool).await })?;
        rows.into_iter().map(PromptImage::try_from).collect()
    }

    /// Deletes images uploaded before this time that no battle shows; returns their number.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn delete_unused_images(&self, before: Timestamp) -> Result<u64, StoreError> {
        let _time = store_time("delete_unused_images");
        on_writer!(self, |connection| {
            sqlx::query(DELETE_UNUSED).bind(before.0).execute(connection).await.map(|done| done.rows_affected())
        })
    }
}
