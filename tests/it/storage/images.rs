//! What every database promises of images beside questions.

use langya::domain::battle::message::{ImageType, PromptImage};
use langya::domain::battle::{ImageId, VisitorId};
use langya::domain::time::Timestamp;
use langya::infra::storage::{DeletionTarget, NewImage, Store};

use super::{battle, battle_id};
use crate::support::arena::card;

/// The file of an image, which is no text.
pub(crate) fn bytes(id: &str) -> Vec<u8> {
    [&[0, 0xff, b'\''][..], id.as_bytes()].concat()
}

/// Keeps an image of the visitor of [`battle`].
pub(crate) async fn keep(store: &Store, id: &str, at: i64) -> ImageId {
    keep_for(store, VisitorId::new("visitor"), id, at).await
}

/// Keeps an image of a visitor.
pub(crate) async fn keep_for(store: &Store, visitor: VisitorId, id: &str, at: i64) -> ImageId {
    let image = PromptImage { media_type: ImageType::Png, bytes: bytes(id).into() };
    let id = ImageId::new(id);
    let new = NewImage { id: id.clone(), visitor, width: 3, height: 2, image, created_at: Timestamp(at) };
    for _ in 0..2 {
        store.insert_image(&new).await.unwrap();
    }
    id
}

pub(super) async fn images_are_kept_with_their_battle_in_order_and_go_with_its_texts(store: &Store) {
    store.register_models(&["one", "two"].map(card), Timestamp(1)).await.unwrap();
    let (one, two) = (keep(store, "i", 5).await, keep(store, "ii", 5).await);
    let order = [two.clone(), one.clone(), two.clone()];
    for _ in 0..2 {
        store.insert_battle_with_images(&battle("b1"), "Which?", &order, Timestamp(10)).await.unwrap();
    }
    store.insert_battle_with_images(&battle("b2"), "Which?", std::slice::from_ref(&two), Timestamp(10)).await.unwrap();
    assert_eq!(store.battle_record(&battle_id("b1")).await.unwrap().unwrap().images, order);
    let shown = store.battle_images(&battle_id("b1")).await.unwrap();
    let shown: Vec<Vec<u8>> = shown.iter().map(|image| image.bytes.to_vec()).collect();
    assert_eq!(shown, ["ii", "i", "ii"].map(bytes));
    for (visitor, has) in [("visitor", true), ("another", false)] {
        let visitor = VisitorId::new(visitor);
        assert_eq!(store.has_image(&visitor, &one).await.unwrap(), has);
        assert_eq!(store.own_image(&visitor, &one).await.unwrap().is_some(), has);
    }

    let later = keep(store, "iii", 20).await;
    let target = DeletionTarget { battle: battle_id("b1"), visitor: None };
    store.delete_texts_of_target(&target).await.unwrap();
    let has = async |id: &ImageId| store.has_image(&VisitorId::new("visitor"), id).await.unwrap();
    assert_eq!((has(&one).await, has(&two).await, has(&later).await), (false, true, true));
    assert_eq!((store.delete_unused_images(Timestamp(20)).await.unwrap(), has(&later).await), (0, true));
    assert_eq!((store.delete_unused_images(Timestamp(21)).await.unwrap(), has(&later).await), (1, false));
}

pub(super) async fn who_deletes_all_texts_keeps_no_image_and_takes_nobody_elses(store: &Store) {
    store.register_models(&["one", "two"].map(card), Timestamp(1)).await.unwrap();
    let (shown, waiting) = (keep(store, "shown", 5).await, keep(store, "waiting", 20).await);
    let foreign = keep_for(store, VisitorId::new("another"), "foreign", 20).await;
    let first = std::slice::from_ref(&shown);
    store.insert_battle_with_images(&battle("b1"), "Which?", first, Timestamp(10)).await.unwrap();
    let [visitor, another] = ["visitor", "another"].map(VisitorId::new);
    assert_eq!(store.delete_texts_of(&visitor, Timestamp(21)).await.unwrap(), 1);
    for (owner, image, has) in [(&visitor, &shown, false), (&visitor, &waiting, false), (&another, &foreign, true)] {
        assert_eq!(store.has_image(owner, image).await.unwrap(), has, "{image}");
    }

    let again = keep(store, "again", 30).await;
    let target = DeletionTarget { battle: battle_id("b1"), visitor: Some(visitor.clone()) };
    assert_eq!(store.delete_texts_of_target(&target).await.unwrap(), 0, "no battle of theirs has a text");
    assert!(!store.has_image(&visitor, &again).await.unwrap());
}
