package ledger

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
)

// The store follows the references of its file without looking where they lead: pages of
// a damaged one can have it run in circles, or out of memory. So a file's pages are
// checked before they are first followed. They are as bbolt has them: a header of an
// identifier, flags, a count and the number of further pages that belong to it, and then
// elements of 16 bytes that say where keys and values are, or pages below.
const (
	elementLength            = 16
	branchPage, leafPage     = 1, 2
	bucketElement            = 1 // a leaf's element whose value is a bucket
	firstPage                = 2 // after the meta pages
	metaRoot, metaPages      = 16, 40
	metaTransaction          = 48
	bucketHeader, deepestRow = 16, 64
)

// pagesAreWhole reports, with a reason, a file whose newest state refers to what is not
// there, or to a page twice. Its meta pages are whole.
func pagesAreWhole(f io.ReaderAt, size int64) error {
	text := make([]byte, size)
	if _, err := f.ReadAt(text, 0); err != nil {
		return fmt.Errorf("it cannot be read (%w)", err)
	}
	page := int(binary.NativeEndian.Uint32(text[pageHeader+8:]))
	newest := text[pageHeader:]
	if other := text[page+pageHeader:]; word(other, metaTransaction) > word(newest, metaTransaction) {
		newest = other
	}
	pages := word(newest, metaPages)
	if pages > uint64(len(text)/page) {
		return fmt.Errorf("it has %d bytes and speaks of %d pages", len(text), pages)
	}
	w := &walk{text: text, page: page, seen: make([]bool, pages)}
	return w.tree(word(newest, metaRoot), 0)
}

// walk is a walk through the pages of a file.
type walk struct {
	text []byte
	page int
	seen []bool
}

// tree follows a page and all below it.
func (w *walk) tree(id uint64, depth int) error {
	if id < firstPage || id >= uint64(len(w.seen)) || depth > deepestRow {
		return fmt.Errorf("page %d is referred to, of %d, %d deep", id, len(w.seen), depth)
	}
	at := int(id) * w.page
	further := uint64(binary.NativeEndian.Uint32(w.text[at+12:]))
	if further >= uint64(len(w.seen))-id || word(w.text, at) != id {
		return fmt.Errorf("page %d calls itself %d, and %d further ones its own", id, word(w.text, at), further)
	}
	for i := id; i <= id+further; i++ {
		if w.seen[i] {
			return fmt.Errorf("page %d is referred to twice", i)
		}
		w.seen[i] = true
	}
	if err := w.elements(w.text[at:at+int(further+1)*w.page], depth); err != nil {
		return fmt.Errorf("page %d: %w", id, err)
	}
	return nil
}

// elements follows those of a page, whose bytes these are.
func (w *walk) elements(p []byte, depth int) error {
	if len(p) < pageHeader {
		return fmt.Errorf("it ends after %d bytes", len(p))
	}
	flags, count := binary.NativeEndian.Uint16(p[8:]), int(binary.NativeEndian.Uint16(p[10:]))
	if flags != branchPage && flags != leafPage || flags == branchPage && count == 0 {
		return fmt.Errorf("it has the flags %d and %d elements", flags, count)
	}
	if pageHeader+count*elementLength > len(p) {
		return fmt.Errorf("it has no room for %d elements", count)
	}
	var previous []byte
	for i := range count {
		at := pageHeader + i*elementLength
		key, value, below, err := element(p[at:], flags)
		if err != nil {
			return err
		}
		if i > 0 && bytes.Compare(previous, key) >= 0 {
			return fmt.Errorf("its keys are not in order")
		}
		previous = key
		if flags == branchPage {
			err = w.tree(below, depth+1)
		} else if below == bucketElement {
			err = w.bucket(value, depth+1)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// element reads one, from where it begins to the page's end: below is a branch's page,
// or a leaf's flags.
func element(p []byte, flags uint16) (key, value []byte, below uint64, err error) {
	field := func(i int) uint64 { return uint64(binary.NativeEndian.Uint32(p[4*i:])) }
	begin, keys, values := field(1), field(2), field(3)
	below = field(0)
	if flags == branchPage {
		begin, keys, values, below = field(0), field(1), 0, word(p, 8)
	}
	if begin+keys+values > uint64(len(p)) {
		return nil, nil, 0, fmt.Errorf("an element ends %d bytes on, of %d", begin+keys+values, len(p))
	}
	return p[begin : begin+keys], p[begin+keys : begin+keys+values], below, nil
}

// bucket follows a bucket, whose pages are elsewhere or one that is inside its value.
func (w *walk) bucket(value []byte, depth int) error {
	if len(value) < bucketHeader || depth > deepestRow {
		return fmt.Errorf("a bucket of %d bytes, %d deep", len(value), depth)
	}
	if root := word(value, 0); root != 0 {
		return w.tree(root, depth)
	}
	return w.elements(value[bucketHeader:], depth)
}

func word(b []byte, at int) uint64 { return binary.NativeEndian.Uint64(b[at:]) }
