package data

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// A stream's records: four numbers, a category, a label, and a note that is not
// read but makes most of the text.
var (
	streamHeader = []byte("note,a,b,c,d,colour,y\n")
	streamRecord = []byte("\"a long, quoted note that nobody reads, and then some more of it to fill the " +
		"line\",12.5,-0.25,3.14159,77,green,yes\n")
)

func streamSchema(records int) *Schema {
	s := &Schema{Confirmed: true, Records: records, Columns: []Column{
		{Name: "note", Role: Ignore},
		{Name: "colour", Role: Feature, Kind: Category, Levels: []string{"red", "green", "blue"}},
		{Name: "y", Role: Target, Kind: Binary, Labels: []string{"no", "yes"}},
	}}
	for _, name := range []string{"a", "b", "c", "d"} {
		s.Columns = append(s.Columns, Column{Name: name, Role: Feature, Kind: Number, Lower: -100, Upper: 100})
	}
	return s
}

// repeated is the header and then the given number of equal records.
func repeated(header, record []byte, records int) io.Reader {
	return io.MultiReader(bytes.NewReader(header), &repeater{text: bytes.Repeat(record, 1000),
		left: records * len(record)})
}

// repeater is text repeated up to a number of bytes.
type repeater struct {
	text     []byte
	at, left int
}

func (r *repeater) Read(p []byte) (n int, err error) {
	if r.left == 0 {
		return 0, io.EOF
	}
	for n < len(p) && r.left > 0 {
		k := copy(p[n:min(len(p), n+r.left)], r.text[r.at:])
		n, r.left, r.at = n+k, r.left-k, (r.at+k)%len(r.text)
	}
	return n, nil
}

// allocated returns how many bytes and objects load allocates in all, freed or not:
// a bound on its peak that does not depend on when garbage is collected.
func allocated(t *testing.T, load func() (*Table, error)) (table *Table, bytes, objects uint64) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	table, err := load()
	runtime.ReadMemStats(&after)
	if err != nil {
		t.Fatal(err)
	}
	return table, after.TotalAlloc - before.TotalAlloc, after.Mallocs - before.Mallocs
}

// 20 MB of text go into a table of 11 MB. Loading a file allocates the table and at
// most 2 % and half a MiB of slack: the buffer of 256 KiB, the plan, and room for
// the records that the file's size would allow if it were larger. A stream of
// unknown length allocates at most twice the table in all, as it grows. Neither
// allocates anything per record.
func TestMemoryCeiling(t *testing.T) {
	const records = 175_000
	const slack = 1 << 19
	schema := streamSchema(records)
	want := uint64(8 * records * (7 + 1))

	stream := repeated(streamHeader, streamRecord, records)
	table, streamed, objects := allocated(t, func() (*Table, error) {
		return Read(context.Background(), stream, "stream", schema)
	})
	if table.Records != records || table.Features() != 7 {
		t.Fatalf("N = %d, P = %d", table.Records, table.Features())
	}
	if streamed > 2*want+slack || objects > 500 {
		t.Errorf("a stream of %d bytes allocated %d bytes in %d objects, for a table of %d", records*len(streamRecord),
			streamed, objects, want)
	}

	path := filepath.Join(t.TempDir(), "t.csv")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(f, repeated(streamHeader, streamRecord, records)); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	_, loaded, objects := allocated(t, func() (*Table, error) { return Load(context.Background(), path, schema) })
	if loaded > want+want/50+slack || objects > 500 {
		t.Errorf("a file allocated %d bytes in %d objects, for a table of %d", loaded, objects, want)
	}
}

// A schema that states far more records than a file can have must not reserve
// memory for them.
func TestStatedRecordsReserveNothing(t *testing.T) {
	schema := streamSchema(1 << 50)
	stream := repeated(streamHeader, streamRecord, 10)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := Read(context.Background(), stream, "stream", schema)
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; err == nil || got > 1<<20 {
		t.Errorf("%v, having allocated %d bytes", err, got)
	}
}

func benchmarkRead(b *testing.B, header, record string, megabytes int, schema func(records int) *Schema) {
	records := megabytes << 20 / len(record)
	b.SetBytes(int64(len(header) + records*len(record)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Read(context.Background(), repeated([]byte(header), []byte(record), records), "stream",
			schema(records)); err != nil {
			b.Fatal(err)
		}
	}
}

// 200 MB of mixed columns.
func BenchmarkReadMixed(b *testing.B) {
	benchmarkRead(b, string(streamHeader), string(streamRecord), 200, streamSchema)
}

// 200 MB of numbers, all of them read.
func BenchmarkReadNumbers(b *testing.B) {
	benchmarkRead(b, "a,b,c,d,e\n", "12.5,-0.251234,3.14159265,77,1e-3\n", 200, func(records int) *Schema {
		s := &Schema{Confirmed: true, Records: records}
		for _, name := range []string{"a", "b", "c", "d", "e"} {
			s.Columns = append(s.Columns, Column{Name: name, Role: Feature, Kind: Number, Lower: -100, Upper: 100})
		}
		return s
	})
}

func BenchmarkBuiltinMixture(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Builtin("builtin:mixture"); err != nil {
			b.Fatal(err)
		}
	}
}
