//! Sanitising of visitors' images: decoded within limits, oriented upright, scaled down to the maximum size, and encoded again.
//!
//! The output holds pixels alone: metadata such as place, time and camera is removed.

use std::borrow::Cow;
use std::io::{self, Cursor};

use image::codecs::jpeg::JpegEncoder;
use image::imageops::{self, FilterType};
use image::metadata::Orientation;
use image::{DynamicImage, ImageDecoder, ImageError, ImageFormat, ImageReader, RgbImage, Rgba, RgbaImage};

use crate::domain::battle::message::ImageType;

/// Maximum pixels of a side of the output; providers scale larger images down themselves.
pub const MAX_SIDE_PIXELS: u32 = 2048;
/// Maximum pixels of the input: a small file may decompress to gigabytes.
pub const MAX_PIXELS: u64 = 50_000_000;
/// Maximum bytes of the decoded input, held twice in memory while it is rotated: enough for [`MAX_PIXELS`] of four bytes each, but not of
/// eight, as in a PNG with 16 bits a colour.
const MAX_UNPACKED_BYTES: u64 = 200 << 20;
/// Maximum bytes of a PNG in the output; a larger one becomes a JPEG.
const MAX_PNG_BYTES: usize = 3 << 20;
const JPEG_QUALITY: u8 = 90;
/// Signature of PNG files.
const PNG_SIGNATURE: &[u8] = b"\x89PNG\r\n\x1a\n";
/// Ancillary chunks that are kept: transparency, and the orientation of the camera.
const KEPT_ANCILLARY_CHUNKS: [&[u8]; 2] = [b"tRNS", b"eXIf"];
/// Bytes of a PNG chunk besides its data: length, type and checksum.
const PNG_CHUNK_OVERHEAD: usize = 12;

/// An image without metadata.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CleanImage {
    /// Media type of the bytes.
    pub media_type: ImageType,
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// Bytes of the image file.
    pub bytes: Vec<u8>,
}

/// Reason why an image is rejected; the message says what to do.
#[derive(Debug, thiserror::Error)]
pub enum UnusableImage {
    /// Neither PNG, JPEG nor WebP.
    #[error("this is not a PNG, JPEG or WebP image: choose another file")]
    UnknownFormat,
    /// More pixels than the maximum.
    #[error("the image has {width} × {height} pixels, more than {MAX_PIXELS} in all: make it smaller")]
    TooManyPixels {
        /// Width in pixels.
        width: u32,
        /// Height in pixels.
        height: u32,
    },
    /// Decoded size above the maximum.
    #[error(
        "the image unpacks to {bytes} bytes, more than {MAX_UNPACKED_BYTES}: save it with 8 bits a colour, or make it smaller"
    )]
    TooManyBytes {
        /// Decoded bytes.
        bytes: u64,
    },
    /// Corrupt, or of an unsupported kind.
    #[error("the image cannot be read: save it again as PNG or JPEG")]
    Unreadable(#[source] ImageError),
}

/// Decodes an image and encodes it again: as PNG if it was one or has transparent parts, and the PNG is not too large; otherwise as JPEG,
/// with white behind transparent parts.
///
/// # Errors
/// [`UnusableImage`].
pub fn clean(file: &[u8]) -> Result<CleanImage, UnusableImage> {
    let (image, format) = read(file)?;
    let image = if image.width().max(image.height()) > MAX_SIDE_PIXELS {
        image.resize(MAX_SIDE_PIXELS, MAX_SIDE_PIXELS, FilterType::CatmullRom)
    } else {
        image
    };
    let (media_type, bytes) = write(&image, format).map_err(UnusableImage::Unreadable)?;
    Ok(CleanImage { media_type, width: image.width(), height: image.height(), bytes })
}

fn read(file: &[u8]) -> Result<(DynamicImage, ImageFormat), UnusableImage> {
    let (mut decoder, format) = open(file)?;
    let (width, height) = decoder.dimensions();
    if u64::from(width) * u64::from(height) > MAX_PIXELS {
        return Err(UnusableImage::TooManyPixels { width, height });
    }
    let bytes = decoder.total_bytes();
    if bytes > MAX_UNPACKED_BYTES {
        return Err(UnusableImage::TooManyBytes { bytes });
    }
    // Without a readable Exif orientation the image is not rotated.
    let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
    let mut image = DynamicImage::from_decoder(decoder).map_err(UnusableImage::Unreadable)?;
    image.apply_orientation(orientation);
    Ok((image, format))
}

/// Reads the header of a file.
fn open(file: &[u8]) -> Result<(impl ImageDecoder + '_, ImageFormat), UnusableImage> {
    let reader = ImageReader::new(Cursor::new(without_metadata(file))).with_guessed_format();
    let reader = reader.map_err(|error: io::Error| UnusableImage::Unreadable(error.into()))?;
    let known = [ImageFormat::Png, ImageFormat::Jpeg, ImageFormat::WebP];
    let format = reader.format().filter(|format| known.contains(format)).ok_or(UnusableImage::UnknownFormat)?;
    Ok((reader.into_decoder().map_err(UnusableImage::Unreadable)?, format))
}

/// Removes unneeded chunks of a PNG: the decoder would decompress a colour profile of 200 kB to 200 MB with the header. Other files are
/// returned unchanged.
fn without_metadata(file: &[u8]) -> Cow<'_, [u8]> {
    let Some(mut rest) = file.strip_prefix(PNG_SIGNATURE) else { return Cow::Borrowed(file) };
    let mut kept = PNG_SIGNATURE.to_vec();
    while let Some((chunk, following)) = split_chunk(rest) {
        let kind = &chunk[4..8];
        // An upper-case first letter marks a critical chunk.
        if kind[0].is_ascii_uppercase() || KEPT_ANCILLARY_CHUNKS.contains(&kind) {
            kept.extend_from_slice(chunk);
        }
        rest = following;
    }
    // The decoder refuses an incomplete chunk.
    kept.extend_from_slice(rest);
    Cow::Owned(kept)
}

/// Splits off the first chunk of a PNG; `None` if it is incomplete.
fn split_chunk(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let length = usize::try_from(u32::from_be_bytes(*bytes.first_chunk()?)).ok()?;
    bytes.split_at_checked(length.checked_add(PNG_CHUNK_OVERHEAD)?)
}

fn write(image: &DynamicImage, format: ImageFormat) -> Result<(ImageType, Vec<u8>), ImageError> {
    let has_alpha = image.color().has_alpha();
    if format == ImageFormat::Png || has_alpha {
        let flat = if has_alpha { image.to_rgba8().into() } else { DynamicImage::from(image.to_rgb8()) };
        let mut png = Cursor::new(Vec::new());
        flat.write_to(&mut png, ImageFormat::Png)?;
        if png.get_ref().len() <= MAX_PNG_BYTES {
            return Ok((ImageType::Png, png.into_inner()));
        }
    }
    let mut jpeg = Vec::new();
    on_white(image).write_with_encoder(JpegEncoder::new_with_quality(&mut jpeg, JPEG_QUALITY))?;
    Ok((ImageType::Jpeg, jpeg))
}

/// Removes the transparency. The colours of transparent pixels are arbitrary, mostly black: without a ground, black text would be on black.
fn on_white(image: &DynamicImage) -> RgbImage {
    if !image.color().has_alpha() {
        return image.to_rgb8();
    }
    let mut ground = RgbaImage::from_pixel(image.width(), image.height(), Rgba([u8::MAX; 4]));
    imageops::overlay(&mut ground, &image.to_rgba8(), 0, 0);
    DynamicImage::from(ground).to_rgb8()
}

#[cfg(test)]
mod tests {
    use image::Rgb;

    use super::*;

    fn encoded(image: &DynamicImage, format: ImageFormat) -> Vec<u8> {
        let mut file = Cursor::new(Vec::new());
        image.write_to(&mut file, format).unwrap();
        file.into_inner()
    }

    /// Left half red, right half blue.
    fn two_halves(width: u32, height: u32) -> DynamicImage {
        let colour = |x, _| if x < width / 2 { Rgb([200, 0, 0]) } else { Rgb([0, 0, 200]) };
        RgbImage::from_fn(width, height, colour).into()
    }

    /// A JPEG file with an Exif segment after its first marker: the given orientation, and a maker's name.
    fn with_exif(jpeg: &[u8], orientation: u8) -> Vec<u8> {
        let mut tiff = b"MM\0\x2a\0\0\0\x08\0\x02".to_vec();
        tiff.extend([0x01, 0x0f, 0, 2, 0, 0, 0, 12, 0, 0, 0, 38]);
        tiff.extend([0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, orientation, 0, 0]);
        tiff.extend([0, 0, 0, 0]);
        tiff.extend(b"SecretCamera\0");
        let mut segment = b"Exif\0\0".to_vec();
        segment.extend(tiff);
        let length = u16::try_from(segment.len() + 2).unwrap().to_be_bytes();
        [&jpeg[..2], &[0xff, 0xe1], &length, &segment, &jpeg[2..]].concat()
    }

    #[test]
    fn a_picture_is_turned_upright_and_loses_its_metadata() {
        let file = with_exif(&encoded(&two_halves(64, 32), ImageFormat::Jpeg), 6);
        assert!(file.windows(12).any(|bytes| bytes == b"SecretCamera"));
        let clean = clean(&file).unwrap();
        assert_eq!((clean.media_type, clean.width, clean.height), (ImageType::Jpeg, 32, 64));
        assert!(!clean.bytes.windows(4).any(|bytes| bytes == b"Exif" || bytes == b"Secr"));
        let upright = image::load_from_memory(&clean.bytes).unwrap().to_rgb8();
        let (top, bottom) = (upright.get_pixel(16, 8), upright.get_pixel(16, 56));
        assert!(top[0] > 150 && top[2] < 60 && bottom[2] > 150 && bottom[0] < 60, "{top:?} {bottom:?}");
    }

    #[test]
    fn text_in_a_png_is_dropped_and_transparency_stays() {
        let image = RgbaImage::from_fn(4, 4, |x, _| Rgba([1, 2, 3, if x == 0 { 0 } else { 255 }]));
        let mut file = encoded(&image.clone().into(), ImageFormat::Png);
        let before_end = file.len() - 12;
        file.splice(before_end..before_end, chunk(b"tEXtAuthor\0Ada"));
        let clean = clean(&file).unwrap();
        assert_eq!(clean.media_type, ImageType::Png);
        assert!(!clean.bytes.windows(3).any(|bytes| bytes == b"Ada"));
        assert_eq!(image::load_from_memory(&clean.bytes).unwrap().to_rgba8(), image);
    }

    #[test]
    fn a_colour_profile_is_not_unpacked_and_how_the_camera_was_held_is_read() {
        let mut file = encoded(&two_halves(64, 32), ImageFormat::Png);
        let profile = chunk(b"iCCPname\0\0\x78\x01\x01\x03\0\xfc\xffabc\x02\x4d\x01\x27");
        let turned = chunk(b"eXIfMM\0\x2a\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0");
        let behind_head = PNG_SIGNATURE.len() + 13 + PNG_CHUNK_OVERHEAD;
        file.splice(behind_head..behind_head, [profile, turned].concat());
        let whole = ImageReader::new(Cursor::new(&file)).with_guessed_format().unwrap();
        let unpacked = whole.into_decoder().unwrap().icc_profile().unwrap();
        assert_eq!(unpacked.as_deref(), Some(&b"abc"[..]), "the file has a profile");
        assert_eq!(open(&file).unwrap().0.icc_profile().unwrap(), None);
        let clean = clean(&file).unwrap();
        assert_eq!((clean.media_type, clean.width, clean.height), (ImageType::Png, 32, 64));
    }

    #[test]
    fn a_transparent_png_too_large_to_stay_one_gets_a_white_ground() {
        let mut noise = 1_u32;
        let image = RgbaImage::from_fn(1_400, 1_100, |x, _| {
            noise = noise.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let [red, green, blue, _] = noise.to_be_bytes();
            if x < 200 { Rgba([0; 4]) } else { Rgba([red, green, blue, 255]) }
        });
        let clean = clean(&encoded(&image.into(), ImageFormat::Png)).unwrap();
        assert_eq!(clean.media_type, ImageType::Jpeg);
        let ground = *image::load_from_memory(&clean.bytes).unwrap().to_rgb8().get_pixel(100, 500);
        assert!(ground.0.iter().all(|channel| *channel > 250), "{ground:?}");
    }

    #[test]
    fn a_large_picture_becomes_as_large_as_models_look_at() {
        let clean = clean(&encoded(&two_halves(3000, 1000), ImageFormat::Png)).unwrap();
        assert_eq!((clean.media_type, clean.width, clean.height), (ImageType::Png, 2048, 683));
    }

    #[test]
    fn a_webp_becomes_a_jpeg_unless_it_is_transparent() {
        let opaque = clean(&encoded(&two_halves(16, 16), ImageFormat::WebP)).unwrap();
        let image: DynamicImage = RgbaImage::from_pixel(16, 16, Rgba([9, 9, 9, 90])).into();
        let transparent = clean(&encoded(&image, ImageFormat::WebP)).unwrap();
        assert_eq!((opaque.media_type, transparent.media_type), (ImageType::Jpeg, ImageType::Png));
    }

    #[test]
    fn what_is_no_image_is_refused_with_what_to_do() {
        let refused = |file: &[u8]| clean(file).unwrap_err().to_string();
        for file in [
            &b""[..],
            b"<svg xmlns='http://www.w3.org/2000/svg'/>",
            b"GIF89a\x01\0\x01\0\0\0\0;",
            b"\0\0\0\x1cftypavif",
        ] {
            assert_eq!(refused(file), "this is not a PNG, JPEG or WebP image: choose another file");
        }
        let whole = encoded(&two_halves(64, 64), ImageFormat::Png);
        assert_eq!(refused(&whole[..60]), "the image cannot be read: save it again as PNG or JPEG");
        assert_eq!(
            refused(&png_head(60_000, EIGHT_BITS_RGB)),
            "the image has 60000 × 60000 pixels, more than 50000000 in all: make it smaller"
        );
        assert_eq!(
            refused(&png_head(7_071, SIXTEEN_BITS_RGBA)),
            "the image unpacks to 399992328 bytes, more than 209715200: save it with 8 bits a colour, or make it smaller"
        );
    }

    /// Bit depth and colour type in the header of a PNG.
    const EIGHT_BITS_RGB: [u8; 2] = [8, 2];
    const SIXTEEN_BITS_RGBA: [u8; 2] = [16, 6];

    /// The header of a PNG with sides of this many pixels, and nothing else.
    fn png_head(side: u32, depth_and_colours: [u8; 2]) -> Vec<u8> {
        let mut file = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR".to_vec();
        file.extend(side.to_be_bytes());
        file.extend(side.to_be_bytes());
        file.extend(depth_and_colours);
        file.extend(b"\0\0\0");
        file.extend(crc(&file[12..]).to_be_bytes());
        file.extend(b"\0\0\0\0IDAT\x35\xaf\x06\x1e");
        file
    }

    /// A PNG chunk of its type and data.
    fn chunk(kind_and_data: &[u8]) -> Vec<u8> {
        let length = u32::try_from(kind_and_data.len() - 4).unwrap();
        [&length.to_be_bytes()[..], kind_and_data, &crc(kind_and_data).to_be_bytes()].concat()
    }

    /// The checksum of a PNG chunk, bit by bit.
    fn crc(bytes: &[u8]) -> u32 {
        let bit = |crc: u32, _| if crc & 1 == 1 { 0xedb8_8320 ^ (crc >> 1) } else { crc >> 1 };
        !bytes.iter().fold(!0, |crc, byte| (0..8).fold(crc ^ u32::from(*byte), bit))
    }
}
