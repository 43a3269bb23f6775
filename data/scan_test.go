package data

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"unicode"

	"pgregory.net/rapid"
)

// place is a cell and where it began.
type place struct {
	text         string
	line, column int
}

// normalise removes what the scanner and encoding/csv are allowed to differ in:
// blanks at the ends of cells, and CRLF inside quotes.
func normalise(text string) string {
	return strings.TrimFunc(strings.ReplaceAll(text, "\r\n", "\n"), unicode.IsSpace)
}

// empty reports whether a record is one that only one of the two readers skips.
func empty(record []place) bool { return len(record) == 1 && record[0].text == "" }

// scanAll reads every record with the scanner.
func scanAll(r io.Reader, delimiter byte) ([][]place, error) {
	s, err := newScanner(context.Background(), r, "t.csv", delimiter)
	if err != nil {
		return nil, err
	}
	var records [][]place
	for {
		some, err := s.more()
		if err != nil || !some {
			return records, err
		}
		var record []place
		for last := false; !last; {
			var text []byte
			if text, last, err = s.cell(); err != nil {
				return nil, err
			}
			record = append(record, place{normalise(string(text)), s.cellLine, s.cellColumn})
		}
		if !empty(record) {
			records = append(records, record)
		}
	}
}

// readAll reads every record with encoding/csv.
func readAll(text string, delimiter byte) ([][]place, error) {
	r := csv.NewReader(strings.NewReader(strings.TrimPrefix(text, "\ufeff")))
	r.TrimLeadingSpace, r.FieldsPerRecord, r.Comma = true, -1, rune(delimiter)
	var records [][]place
	for {
		fields, err := r.Read()
		if err == io.EOF {
			return records, nil
		}
		if err != nil {
			return nil, err
		}
		var record []place
		for i, f := range fields {
			line, column := r.FieldPos(i)
			record = append(record, place{normalise(f), line, column})
		}
		if !empty(record) {
			records = append(records, record)
		}
	}
}

// sameAsCSV checks that the scanner reads what encoding/csv can read, cell for cell
// and position for position, however the bytes arrive, and never panics.
func sameAsCSV(t interface {
	Helper()
	Fatalf(string, ...any)
}, text string) {
	t.Helper()
	sameWithDelimiter(t, text, ',')
	sameWithDelimiter(t, strings.ReplaceAll(text, ",", ";"), ';')
}

func sameWithDelimiter(t interface {
	Helper()
	Fatalf(string, ...any)
}, text string, delimiter byte) {
	t.Helper()
	ours, err := scanAll(strings.NewReader(text), delimiter)
	slow, slowErr := scanAll(iotest.OneByteReader(strings.NewReader(text)), delimiter)
	if (err == nil) != (slowErr == nil) || err != nil && err.Error() != slowErr.Error() || !equal(ours, slow) {
		t.Fatalf("%q: read at once %v, %v; byte by byte %v, %v", text, ours, err, slow, slowErr)
	}
	var refusal *Error
	if errors.As(err, &refusal) && (refusal.Line < 1 || refusal.Line > strings.Count(text, "\n")+1 || refusal.Column < 1 ||
		refusal.Column > len(text)+1) {
		t.Fatalf("%q: %v is outside the text", text, err)
	}
	theirs, csvErr := readAll(text, delimiter)
	if csvErr != nil || strings.HasPrefix(text, "\xff\xfe") || strings.HasPrefix(text, "\xfe\xff") {
		return
	}
	if err != nil || !equal(ours, theirs) {
		t.Fatalf("%q: scanner %v, %v; encoding/csv %v", text, ours, err, theirs)
	}
}

func equal(a, b [][]place) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if len(a[i]) != len(b[i]) {
			return false
		}
		for j := range a[i] {
			if a[i][j] != b[i][j] {
				return false
			}
		}
	}
	return true
}

func TestScannerAgreesWithEncodingCSV(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pieces := rapid.SliceOf(rapid.SampledFrom([]string{"a", "1.5", ",", ",", "\n", "\n", "\r\n", `"`, `"`, `""`, " ",
			"\t", "ß"})).Draw(t, "pieces")
		sameAsCSV(t, strings.Join(pieces, ""))
	})
}

func FuzzScanner(f *testing.F) {
	for _, seed := range []string{"", "a,b\n1,2\n", "a,b\r\n1,2", "\ufeffa\n1", "\"a\nb\",c\n", "a,\"b\"\"c\",\n,,\n",
		" a , \"b\" \n", "a\"b", "\"a", "\"a\"b", "\r", "a\r\rb"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		// Here and nowhere else a carriage return between other bytes is text to
		// encoding/csv and a blank at the end of a cell to the scanner.
		if strings.ContainsAny(strings.ReplaceAll(text, "\r\n", ""), "\r\v\f\u0085\u00a0") ||
			strings.ContainsFunc(text, unicode.IsSpace) && !utf8Blank(text) {
			return
		}
		sameAsCSV(t, text)
	})
}

// utf8Blank reports whether the only blanks in text are those of ASCII.
func utf8Blank(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r > unicode.MaxASCII && unicode.IsSpace(r) })
}

// Blanks inside quotes belong to the text; those outside do not.
func TestBlanksInsideQuotesAreKept(t *testing.T) {
	s, err := newScanner(context.Background(), strings.NewReader(" \" a \" ,\tb c\t\r\n"), "t.csv", 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{" a ", "b c"} {
		text, _, err := s.cell()
		if err != nil || string(text) != want {
			t.Errorf("cell %q, %v; want %q", text, err, want)
		}
	}
}

// Cells that straddle the end of the buffer are read whole; cells beyond its size
// are refused where they began, and a quote that is never closed does not draw the
// file into memory.
func TestCellsAroundTheBuffersSize(t *testing.T) {
	for _, size := range []int{maxCell - 3, maxCell - 1} {
		long := strings.Repeat("x", size)
		for _, text := range []string{"a," + long + ",b\n", "a,\"" + long + "\",b\n"} {
			records, err := scanAll(strings.NewReader(text), ',')
			if err != nil || len(records[0]) != 3 || records[0][1].text != long ||
				records[0][2] != (place{"b", 1, strings.LastIndex(text, "b") + 1}) {
				t.Errorf("cell of %d bytes: %d records, %v", size, len(records), err)
			}
		}
	}
	for _, text := range []string{"a,b\nc,", "a,b\nc,\""} {
		endless := io.MultiReader(strings.NewReader(text), endlessReader{})
		_, err := scanAll(endless, ',')
		var refusal *Error
		if !errors.As(err, &refusal) || refusal.Line != 2 || refusal.Column != 3 ||
			!strings.Contains(err.Error(), "262144 bytes") {
			t.Errorf("endless cell after %q: %v", text, err)
		}
	}
}

// endlessReader is an endless run of the letter x.
type endlessReader struct{}

func (endlessReader) Read(p []byte) (int, error) {
	return copy(p, bytes.Repeat([]byte("x"), len(p))), nil
}

func TestReadersErrorsArePassedOn(t *testing.T) {
	broken := errors.New("the cable is out")
	if _, err := scanAll(io.MultiReader(strings.NewReader("a,b\n1"), iotest.ErrReader(broken)),
		','); !errors.Is(err, broken) {
		t.Errorf("a broken reader: %v", err)
	}
	if _, err := scanAll(idleReader{}, ','); !errors.Is(err, io.ErrNoProgress) {
		t.Errorf("an idle reader: %v", err)
	}
}

// idleReader never has anything.
type idleReader struct{}

func (idleReader) Read([]byte) (int, error) { return 0, nil }
