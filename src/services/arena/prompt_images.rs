//! Images beside the first question of a battle: taken in one at a time, then named by the question.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Semaphore;

use crate::domain::battle::message::{Message, PromptImage};
use crate::domain::battle::{BattleId, ImageId, VisitorId};
use crate::formats::prompt_images::{self, CleanImage, UnusableImage};
use crate::infra::clock::Clock;
use crate::infra::config::CurrentSettings;
use crate::infra::rng::SharedRng;
use crate::infra::storage::{NewImage, Store, StoreError};

/// Images that are read at the same time: each may take 200 MB for a moment.
const READ_AT_ONCE: usize = 2;
/// How long one waits for others to be read.
const WAIT: Duration = Duration::from_secs(20);

/// Takes images in, and shows them to models.
pub struct PromptImages {
    reading: Semaphore,
    store: Store,
    rng: Arc<SharedRng>,
    clock: Arc<dyn Clock>,
    settings: CurrentSettings,
}

/// Why an image is not taken, or a question with it; the message says what to do.
#[derive(Debug, thiserror::Error)]
pub enum ImageError {
    /// The operator takes none, or no two models see them.
    #[error("this arena does not accept images: ask without them")]
    Off,
    /// More than a question may have.
    #[error("a question has at most {max} images: leave some out")]
    TooMany {
        /// The limit.
        max: usize,
    },
    /// More bytes than the operator takes.
    #[error("the image has more than {max} bytes: make it smaller")]
    TooLarge {
        /// The limit.
        max: usize,
    },
    /// One that was never sent by this visitor, or is deleted.
    #[error("an image of this question is no longer stored: add it again")]
    Unknown,
    /// No image, or none that can be shown.
    #[error(transparent)]
    Unusable(#[from] UnusableImage),
    /// Reading it failed in a way that nobody foresaw.
    #[error("the image cannot be read: save it again as PNG or JPEG")]
    Broke,
    /// Many others are being read.
    #[error("many images are being read at the moment: try again in a minute")]
    Busy,
    /// The database failed.
    #[error("this could not be stored: try again in a minute")]
    Store(#[from] StoreError),
}

/// An image that was taken in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TakenImage {
    /// The name for questions.
    pub id: ImageId,
    /// Pixels across.
    pub width: u32,
    /// Pixels down.
    pub height: u32,
}

impl PromptImages {
    /// Keeps images in this database, within these settings.
    #[must_use]
    pub fn new(store: Store, rng: Arc<SharedRng>, clock: Arc<dyn Clock>, settings: CurrentSettings) -> Self {
        Self { reading: Semaphore::new(READ_AT_ONCE), store, rng, clock, settings }
    }

    /// Takes in a file that a visitor sends: what is kept is the picture alone.
    ///
    /// # Errors
    /// [`ImageError`]; nothing is kept then.
    pub async fn take(&self, visitor: &VisitorId, file: Vec<u8>) -> Result<TakenImage, ImageError> {
        let Ok(Ok(turn)) = tokio::time::timeout(WAIT, self.reading.acquire()).await else {
            return Err(ImageError::Busy);
        };
        // Reading takes tenths of a second of a core, and its libraries see what strangers made.
        let cleaned = tokio::task::spawn_blocking(move || prompt_images::clean(&file)).await;
        drop(turn);
        let CleanImage { media_type, width, height, bytes } = cleaned.map_err(|_| ImageError::Broke)??;
        let new = NewImage {
            id: ImageId::new(self.rng.id(self.clock.as_ref())),
            visitor: visitor.clone(),
            width,
            height,
            image: PromptImage { media_type, bytes: bytes.into() },
            created_at: self.clock.now(),
        };
        self.store.insert_image(&new).await?;
        Ok(TakenImage { id: new.id, width, height })
    }

    /// Bytes of a file that is taken in, at most.
    #[must_use]
    pub fn max_bytes(&self) -> usize {
        self.settings.now().battle.max_image_bytes
    }

    /// Whether the visitor may ask about these images.
    ///
    /// # Errors
    /// [`ImageError`].
    pub async fn check(&self, visitor: &VisitorId, images: &[ImageId]) -> Result<(), ImageError> {
        let max = self.settings.now().battle.max_images;
        if images.is_empty() {
            return Ok(());
        }
        if max == 0 {
            return Err(ImageError::Off);
        }
        if images.len() > max {
            return Err(ImageError::TooMany { max });
        }
        for image in images {
            if !self.store.has_image(visitor, image).await? {
                return Err(ImageError::Unknown);
            }
        }
        Ok(())
    }

    /// Puts the images of a battle beside the first question of its conversation.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn show(
        &self,
        battle: &BattleId,
        images: &[ImageId],
        conversation: &mut [Message],
    ) -> Result<(), StoreError> {
        if let (false, Some(first)) = (images.is_empty(), conversation.first_mut()) {
            first.images = self.store.battle_images(battle).await?;
        }
        Ok(())
    }
}
