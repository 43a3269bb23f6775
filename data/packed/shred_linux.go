package packed

import (
	"io/fs"
	"os"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"
)

// overwrites reports whether a file lies on a file system that writes where the old
// bytes were, as ext4 does unless it journals data, XFS, FAT and memory do. Btrfs, ZFS,
// overlays and networks do not, or do not say.
func overwrites(f *os.File) bool {
	var s unix.Statfs_t
	known := []int64{unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.MSDOS_SUPER_MAGIC, unix.TMPFS_MAGIC}
	return unix.Fstatfs(int(f.Fd()), &s) == nil && slices.Contains(known, int64(s.Type)) // narrower elsewhere
}

// links counts a file's names.
func links(info fs.FileInfo) uint64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(s.Nlink) // narrower on other processors
	}
	return 1
}
