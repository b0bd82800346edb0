//! Texts about images of the first prompt of a battle.

use serde::Serialize;

/// The texts about images.
pub struct ImageTexts {
    /// Label of the button that adds an image.
    pub add: &'static str,
    /// Alternative text of an image.
    pub image: &'static str,
    pub script: ImageScriptTexts,
}

/// Texts of the page's script.
#[derive(Serialize)]
pub struct ImageScriptTexts {
    pub image: &'static str,
    pub remove: &'static str,
    pub sending: &'static str,
    pub not_sent: &'static str,
    /// Shown after a reload of the page, which loses images.
    pub not_kept: &'static str,
    /// Follows the reason why the arena has refused an image.
    pub left_out: &'static str,
    pub error_image_too_large: &'static str,
    pub error_image_unusable: &'static str,
    pub error_image_unknown: &'static str,
    pub error_images_off: &'static str,
    pub error_images_unseen: &'static str,
    pub error_too_many_images: &'static str,
    pub error_rate_limited: &'static str,
}

pub(super) const ENGLISH: ImageTexts = ImageTexts {
    add: "Add images",
    image: "Image {n} of the question",
    script: ImageScriptTexts {
        image: "Image {n} of the question",
        remove: "Remove image {n}",
        sending: "Sending the images …",
        not_sent: "The images could not be sent. Check your connection and try again.",
        not_kept: "Images are lost when the page is reloaded. Add them again.",
        left_out: "{why} It is no longer attached: send the question again without it.",
        error_image_too_large: "This image is too large. Choose one of at most {limit} MB.",
        error_image_unusable: "This is not a readable PNG, JPEG or WebP image. Choose another file, with at most 50 million pixels.",
        error_image_unknown: "An image is no longer stored. Send the question again.",
        error_images_off: "No images can be sent at the moment. Ask without them.",
        error_images_unseen: "A model that you chose does not see images. Choose another one, or ask without them.",
        error_too_many_images: "There are too many images: a question takes {max} at most. Leave the others out.",
        error_rate_limited: "You have sent many images in a short time. Try again later.",
    },
};

pub(super) const CHINESE: ImageTexts = ImageTexts {
    add: "添加图片",
    image: "问题中的图片 {n}",
    script: ImageScriptTexts {
        image: "问题中的图片 {n}",
        remove: "移除图片 {n}",
        sending: "正在发送图片……",
        not_sent: "图片未能发送。请检查网络连接后重试。",
        not_kept: "重新载入页面后，所选图片不会保留，请重新添加。",
        left_out: "{why}该图片已移除，可直接重新发送问题。",
        error_image_too_large: "图片过大，请选择不超过 {limit} MB 的图片。",
        error_image_unusable: "无法读取该文件。请选择 PNG、JPEG 或 WebP 图片，不超过 5000 万像素。",
        error_image_unknown: "有图片已失效，请重新发送问题。",
        error_images_off: "暂时无法发送图片，请只发送文字。",
        error_images_unseen: "所选模型不支持图片。请选择其他模型，或只发送文字。",
        error_too_many_images: "图片过多：每个问题最多 {max} 张，请去掉其余的。",
        error_rate_limited: "短时间内发送的图片过多，请稍后再试。",
    },
};
