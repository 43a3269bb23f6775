package parquet_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/memory"
	pq "github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"github.com/dpmcmc/dpmcmc/sources/internal/people"
	"github.com/dpmcmc/dpmcmc/sources/parquet"
)

// arrowFile writes people with another library than reads them: Apache Arrow.
func arrowFile(t testing.TB, all []people.Person, group int64, codec compress.Compression, dictionary, v2 bool) string {
	t.Helper()
	fields := []arrow.Field{
		{Name: "born", Type: arrow.FixedWidthTypes.Date32, Nullable: true}, // ignored, wherever it stands
		{Name: "age", Type: arrow.PrimitiveTypes.Float64, Nullable: true},
		{Name: "income", Type: arrow.PrimitiveTypes.Int32},
		{Name: "score", Type: &arrow.Decimal128Type{Precision: 9, Scale: 2}},
		{Name: "job", Type: arrow.BinaryTypes.String},
		{Name: "ill", Type: arrow.FixedWidthTypes.Boolean},
	}
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema(fields, nil))
	defer b.Release()
	for i := range all {
		p := &all[i]
		b.Field(0).(*array.Date32Builder).AppendNull()
		if p.Age == nil {
			b.Field(1).(*array.Float64Builder).AppendNull()
		} else {
			b.Field(1).(*array.Float64Builder).Append(*p.Age)
		}
		b.Field(2).(*array.Int32Builder).Append(int32(p.Income))
		b.Field(3).(*array.Decimal128Builder).Append(decimal128.FromI64(p.Score))
		b.Field(4).(*array.StringBuilder).Append(p.Job)
		b.Field(5).(*array.BooleanBuilder).Append(p.Ill)
	}
	record := b.NewRecordBatch()
	defer record.Release()
	path := filepath.Join(t.TempDir(), "people.parquet")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	page := pq.DataPageV1
	if v2 {
		page = pq.DataPageV2
	}
	w, err := pqarrow.NewFileWriter(record.Schema(), f, pq.NewWriterProperties(pq.WithMaxRowGroupLength(group),
		pq.WithCompression(codec), pq.WithDictionaryDefault(dictionary), pq.WithDataPageVersion(page),
		pq.WithDataPageSize(4096), pq.WithStoreDecimalAsInteger(true)), pqarrow.DefaultWriterProps())
	if err == nil {
		err = w.WriteBuffered(record)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func open(t *testing.T, path string, n int) *parquet.File {
	t.Helper()
	f, err := parquet.Open(path, people.Schema(n))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return f
}

// TestFilesOfAnotherLibrary: Arrow's files give the rows of the CSV file, bit for bit,
// whatever their compression, encoding, pages and row groups.
func TestFilesOfAnotherLibrary(t *testing.T) {
	all := people.Make(20_000)
	for name, path := range map[string]string{
		"plain":      arrowFile(t, all, 1<<20, compress.Codecs.Uncompressed, false, false),
		"dictionary": arrowFile(t, all, 3000, compress.Codecs.Snappy, true, false),
		"version 2":  arrowFile(t, all, 7777, compress.Codecs.Zstd, true, true),
		"gzip":       arrowFile(t, all, 1000, compress.Codecs.Gzip, false, true),
	} {
		t.Run(name, func(t *testing.T) { people.Check(t, open(t, path, len(all)).Source(), all) })
	}
}

func TestRefusalsNameRecordAndColumn(t *testing.T) {
	all := people.Make(5000)
	all[4321].Score = 1001
	path := arrowFile(t, all, 1000, compress.Codecs.Snappy, true, false)
	people.CheckRefusal(t, open(t, path, len(all)).Source(), len(all), 4322, 4, "score")
	dated := people.Schema(len(all))
	dated.Columns[0].Name, dated.Interactions = "born", nil
	if _, err := parquet.Open(path, dated); err == nil || !strings.Contains(err.Error(), `column "born"`) ||
		!strings.Contains(err.Error(), "DATE") {
		t.Errorf("a date as a number: %v", err)
	}
}

// TestCutFilesAreErrors: a file that ends too early is never a shorter table.
func TestCutFilesAreErrors(t *testing.T) {
	all := people.Make(2000)
	path := arrowFile(t, all, 500, compress.Codecs.Snappy, true, false)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text[:len(text)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := parquet.Open(path, people.Schema(len(all))); err == nil {
		t.Error("half a file was opened")
	}
}
