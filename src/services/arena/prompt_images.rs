//! Images attached to the first prompt of a battle: uploaded one at a time, then referenced by the prompt.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Semaphore;

use crate::domain::battle::message::{Message, PromptImage};
use crate::domain::battle::{BattleId, ImageId, VisitorId};
use crate::formats::prompt_images::{self, CleanImage, UnusableImage};
use crate::infra::config::CurrentSettings;
use crate::infra::rng::SharedRng;
use crate::infra::storage::{NewImage, Store, StoreError};
use crate::infra::time::clock::Clock;

/// Maximum number of images decoded concurrently: each may briefly take 200 MB.
const MAX_CONCURRENT_DECODINGS: usize = 2;
/// Maximum wait for a decoding slot.
const DECODING_QUEUE_TIMEOUT: Duration = Duration::from_secs(20);

/// Accepts uploads, and attaches images to prompts.
pub struct PromptImages {
    reading: Arc<Semaphore>,
    store: Store,
    rng: Arc<SharedRng>,
    clock: Arc<dyn Clock>,
    settings: CurrentSettings,
}

/// Error of an uploaded or attached image; the message says what to do.
#[derive(Debug, thiserror::Error)]
pub enum ImageError {
    /// Images are disabled, or fewer than two models accept them.
    #[error("this arena does not accept images: ask without them")]
    Off,
    /// More images than a prompt may have.
    #[error("a question has at most {max} images: leave some out")]
    TooMany {
        /// Maximum number of images.
        max: usize,
    },
    /// The file exceeds the size limit.
    #[error("the image has more than {max} bytes: make it smaller")]
    TooLarge {
        /// Maximum size in bytes.
        max: usize,
    },
    /// The image was not uploaded by this visitor, or is deleted.
    #[error("an image of this question is no longer stored: add it again")]
    Unknown,
    /// The file is not an image, or an unsupported one.
    #[error(transparent)]
    Unusable(#[from] UnusableImage),
    /// Decoding panicked.
    #[error("the image cannot be read: save it again as PNG or JPEG")]
    Broke,
    /// No decoding slot became free in time.
    #[error("many images are being read at the moment: try again in a minute")]
    Busy,
    /// The database failed.
    #[error("this could not be stored: try again in a minute")]
    Store(#[from] StoreError),
}

/// Accepted image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TakenImage {
    /// Id for use in a prompt.
    pub id: ImageId,
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
}

impl PromptImages {
    /// Creates the service.
    #[must_use]
    pub fn new(store: Store, rng: Arc<SharedRng>, clock: Arc<dyn Clock>, settings: CurrentSettings) -> Self {
        Self { reading: Arc::new(Semaphore::new(MAX_CONCURRENT_DECODINGS)), store, rng, clock, settings }
    }

    /// Accepts an uploaded file and stores the pixels only, without metadata.
    ///
    /// # Errors
    /// [`ImageError`]; nothing is stored then.
    pub async fn take(&self, visitor: &VisitorId, file: Vec<u8>) -> Result<TakenImage, ImageError> {
        let waiting = Arc::clone(&self.reading).acquire_owned();
        let Ok(Ok(turn)) = tokio::time::timeout(DECODING_QUEUE_TIMEOUT, waiting).await else {
            return Err(ImageError::Busy);
        };
        // The thread holds the permit until it ends, because it continues when the upload is cancelled.
        let in_turn = move || {
            let cleaned = prompt_images::clean(&file);
            drop(turn);
            cleaned
        };
        // Decoding takes tenths of a second of CPU time and processes untrusted data.
        let cleaned = tokio::task::spawn_blocking(in_turn).await;
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

    /// Returns the maximum size of an upload in bytes.
    #[must_use]
    pub fn max_bytes(&self) -> usize {
        self.settings.now().battle.max_image_bytes
    }

    /// Checks that the visitor may attach these images.
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

    /// Attaches the images of a battle to the first prompt of its conversation.
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
