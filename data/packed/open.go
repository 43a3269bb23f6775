package packed

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"sync"
	"unsafe"

	"github.com/edsrzf/mmap-go"

	"github.com/dpmcmc/dpmcmc/data"
)

// File is a packed table that is mapped into memory.
type File struct {
	// Header is what the file says of itself.
	Header Header
	// Table is what it holds. X, X32 and Y lie in the mapping.
	Table data.Table

	mapping mmap.MMap
}

// Open maps the packed file at path and reads all of it once, to check it. It is for
// little-endian machines. Errors: a file that is none, or damaged; a schema that is
// invalid, not confirmed, or not the one that the table was packed under.
func Open(path string, schema *data.Schema) (*File, error) {
	if binary.NativeEndian.Uint16([]byte{1, 0}) != 1 {
		return nil, errors.New("packed: packed tables are for little-endian machines; use the CSV file")
	}
	h, err := ReadHeader(path)
	if err != nil {
		return nil, err
	}
	if !schema.Confirmed {
		return nil, data.ErrUnconfirmed
	}
	shape, err := schema.Shape()
	if err != nil {
		return nil, err
	}
	print, err := fingerprint(schema)
	if err != nil {
		return nil, err
	}
	if print != h.Schema || h.Records != shape.Records || h.Features != shape.Features() ||
		h.Response != (shape.Target.Name != "") {
		return nil, fmt.Errorf("packed: %s was packed under another schema; pack the table again, or use the schema that "+
			"it was packed under", path)
	}
	mapping, err := mapped(path, h)
	if err != nil {
		return nil, err
	}
	f := &File{Header: *h, mapping: mapping, Table: data.Table{Shape: *shape, Source: path, Shared: true}}
	if err := f.check(path); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	f.view()
	return f, nil
}

// mapped maps a file that must have the size that its header says.
func mapped(path string, h *Header) (mmap.MMap, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("packed: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() != h.size() {
		return nil, fmt.Errorf("packed: %s is damaged: it has %d bytes, its header says %d; pack the table again", path,
			info.Size(), h.size())
	}
	m, err := mmap.Map(f, mmap.RDONLY, 0)
	if err != nil {
		return nil, fmt.Errorf("packed: %s cannot be mapped: %w", path, err)
	}
	return m, nil
}

// check compares the checksums, of rows and responses at once.
func (f *File) check(path string) error {
	h := &f.Header
	end := h.rows() + int64(h.Records)*int64(h.Features)*int64(h.Width)
	var x, y [32]byte
	var both sync.WaitGroup
	both.Go(func() { x = sha256.Sum256(f.mapping[h.rows():end]) })
	both.Go(func() { y = sha256.Sum256(f.mapping[h.responses():h.size()]) })
	both.Wait()
	if hex.EncodeToString(x[:]) != h.X || hex.EncodeToString(y[:]) != h.Y {
		return fmt.Errorf("packed: %s is damaged: its bytes are not those of its checksum; pack the table again", path)
	}
	return nil
}

// view sets the table's slices.
func (f *File) view() {
	h, t := &f.Header, &f.Table
	if n := h.Records * h.Features; n > 0 {
		first := unsafe.Pointer(&f.mapping[h.rows()])
		if h.Width == 4 {
			t.X32 = unsafe.Slice((*float32)(first), n)
		} else {
			t.X = unsafe.Slice((*float64)(first), n)
		}
	}
	if h.Response {
		t.Y = unsafe.Slice((*float64)(unsafe.Pointer(&f.mapping[h.responses()])), h.Records)
	}
}

// Close takes the table out of memory. A read of it, by a curator too, ends the process
// after that.
func (f *File) Close() error {
	f.Table = data.Table{Shape: f.Table.Shape, Source: f.Table.Source}
	return f.mapping.Unmap()
}
