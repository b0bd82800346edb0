//! Small file system for a test: filled, shrunk, broken, and unmounted when dropped.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context;

use crate::processes::output;

/// Size in MiB.
const SIZE: u32 = 24;

/// Small file system, mounted on a folder.
pub(crate) struct SmallDisk {
    folder: PathBuf,
}

impl SmallDisk {
    /// Mounts a file system in memory.
    pub(crate) fn in_memory(folder: &Path) -> anyhow::Result<Self> {
        std::fs::create_dir_all(folder)?;
        output(Command::new("mount").args(["-t", "tmpfs", "-o", &format!("size={SIZE}m"), "tmpfs"]).arg(folder))?;
        Ok(Self { folder: folder.to_owned() })
    }

    /// Mounts ext4 in a file, which turns read-only when it meets an error.
    pub(crate) fn ext4(folder: &Path) -> anyhow::Result<Self> {
        std::fs::create_dir_all(folder)?;
        let image = folder.with_extension("img");
        File::create(&image)?.set_len(u64::from(SIZE) << 20)?;
        output(Command::new("mkfs.ext4").arg("-q").arg(&image))?;
        let disk = Self { folder: folder.to_owned() };
        disk.mount_image()?;
        Ok(disk)
    }

    fn mount_image(&self) -> anyhow::Result<()> {
        let image = self.folder.with_extension("img");
        output(Command::new("mount").args(["-o", "loop,errors=remount-ro"]).arg(image).arg(&self.folder))?;
        Ok(())
    }

    /// Makes the kernel find the file system damaged, which makes it read-only for all programs.
    pub(crate) fn break_down(&self) -> anyhow::Result<()> {
        let device = output(Command::new("findmnt").args(["-no", "SOURCE"]).arg(&self.folder))?;
        let name = device.trim().rsplit('/').next().context("a loop device has a name")?.to_owned();
        Ok(std::fs::write(format!("/sys/fs/ext4/{name}/trigger_fs_error"), "a fault that a test has asked for")?)
    }

    /// Repairs it like an administrator: unmounted, checked and mounted again; it must be unused meanwhile.
    pub(crate) fn repair(&self) -> anyhow::Result<()> {
        output(Command::new("umount").arg(&self.folder))?;
        // Exit code 1 means that an error was corrected.
        let image = self.folder.with_extension("img");
        output(Command::new("sh").args(["-c", "e2fsck -fy \"$0\" || [ $? = 1 ]"]).arg(image))?;
        self.mount_image()
    }

    /// Fills it except for this number of bytes.
    pub(crate) fn fill_but_for(&self, bytes: usize) -> anyhow::Result<()> {
        let reserve = self.folder.join("reserve");
        std::fs::write(&reserve, vec![1; bytes])?;
        let mut ballast = File::create(self.ballast())?;
        while ballast.write_all(&[1; 4_096]).is_ok() {}
        Ok(std::fs::remove_file(reserve)?)
    }

    /// Frees the filled space.
    pub(crate) fn free(&self) -> anyhow::Result<()> {
        Ok(std::fs::remove_file(self.ballast())?)
    }

    /// Removes all unused space, like an exhausted quota. Only in memory.
    pub(crate) fn shrink_to_what_is_used(&self) -> anyhow::Result<()> {
        let used = output(Command::new("df").args(["--output=used", "-k"]).arg(&self.folder))?;
        let used = used.lines().last().context("df prints a number")?.trim().to_owned();
        self.remount(&format!("size={used}k"))
    }

    /// Restores the size.
    pub(crate) fn grow(&self) -> anyhow::Result<()> {
        self.remount(&format!("size={SIZE}m"))
    }

    fn remount(&self, options: &str) -> anyhow::Result<()> {
        output(Command::new("mount").args(["-o", &format!("remount,{options}")]).arg(&self.folder))?;
        Ok(())
    }

    fn ballast(&self) -> PathBuf {
        self.folder.join("ballast")
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // A lazy unmount takes effect when the file system is unused; a failed test may have left a user.
        let _ = Command::new("umount").arg("-l").arg(&self.folder).status();
    }
}
