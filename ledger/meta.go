package ledger

import (
	"encoding/binary"
	"hash/fnv"
	"io"
)

// A bbolt file begins with two meta pages, written in turn. If one is damaged the store
// quietly falls back to the other, whose state may be a transaction older: charges
// would be forgotten. So both are checked.
const (
	pageHeader  = 16
	metaLength  = 64 // magic, version, page size, flags, root, freelist, pages, transaction; checksum
	metaMagic   = 0xED0CDAED
	metaVersion = 2
)

// metasAreWhole reports whether both meta pages are as they were written.
func metasAreWhole(f io.ReaderAt) bool {
	size, ok := metaIsWhole(f, 0)
	if !ok {
		return false
	}
	_, ok = metaIsWhole(f, int64(size))
	return ok
}

// metaIsWhole checks the meta page at an offset and returns the page size it states.
func metaIsWhole(f io.ReaderAt, offset int64) (pageSize uint32, ok bool) {
	var page [pageHeader + metaLength]byte
	if _, err := f.ReadAt(page[:], offset); err != nil {
		return 0, false
	}
	meta := page[pageHeader:]
	sum := fnv.New64a()
	sum.Write(meta[:metaLength-8]) // never fails
	pageSize = binary.NativeEndian.Uint32(meta[8:])
	return pageSize, binary.NativeEndian.Uint32(meta) == metaMagic &&
		binary.NativeEndian.Uint32(meta[4:]) == metaVersion &&
		binary.NativeEndian.Uint64(meta[metaLength-8:]) == sum.Sum64() && pageSize >= 512 && pageSize <= 1<<20
}
