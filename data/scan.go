package data

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"strconv"
)

// maxCell is the longest cell that is read, in bytes. It is what keeps a missing
// closing quote from drawing the whole file into memory. firstRead is how much of a file
// is read at first: the buffer grows to maxCell while there is more.
const firstRead, maxCell = 1 << 12, 1 << 18

// scanner splits CSV text (RFC 4180) into cells, which a comma, a semicolon or a tab
// may separate. Beyond the standard it skips empty
// lines and a byte order mark, takes LF, CRLF or the end of the file as the end of a
// line, and ignores blanks around a cell unless they are inside its quotes.
type scanner struct {
	ctx  context.Context
	src  io.Reader
	file string // for errors

	buf      []byte
	pos, end int // buf[pos:end] was read from src and is not used yet
	eof      bool

	line   int // line of buf[pos], from 1
	origin int // index of that line's first byte, negative once it has left buf

	delimiter byte      // between cells
	stop      [256]bool // bytes that an unquoted cell cannot hold

	cellLine, cellColumn int    // where the last cell began
	unquoted             []byte // text of the last quoted cell
}

// newScanner returns a scanner at the first line's first cell. delimiter is between
// cells; 0 takes what the header has.
func newScanner(ctx context.Context, src io.Reader, file string, delimiter byte) (*scanner, error) {
	s := &scanner{ctx: ctx, src: src, file: file, line: 1, buf: make([]byte, firstRead)}
	for s.end < 3 {
		more, err := s.fill()
		if err != nil {
			return nil, err
		}
		if !more {
			break
		}
	}
	head := s.buf[:s.end]
	switch {
	case bytes.HasPrefix(head, []byte("\xef\xbb\xbf")):
		s.pos, s.origin = 3, 3
	case bytes.HasPrefix(head, []byte("\xff\xfe")), bytes.HasPrefix(head, []byte("\xfe\xff")):
		return nil, &Error{File: file, Line: 1, Column: 1, Value: string(head[:2]), Found: "the byte order mark of UTF-16",
			Allowed: "UTF-8", Do: "save the file as UTF-8"}
	}
	return s, s.delimit(delimiter)
}

// fill moves unused bytes to the front of the buffer and reads more behind them.
// It reports false at the end of the file.
func (s *scanner) fill() (bool, error) {
	if s.eof {
		return false, nil
	}
	if err := s.ctx.Err(); err != nil {
		return false, fmt.Errorf("data: reading %s: %w", s.file, err)
	}
	buf := s.buf
	if s.end == len(buf) && len(buf) < maxCell {
		buf = make([]byte, 2*len(buf))
	}
	kept := copy(buf, s.buf[s.pos:s.end])
	s.buf = buf
	s.origin -= s.pos
	s.pos, s.end = 0, kept
	if kept == len(s.buf) {
		return false, s.tooLong()
	}
	for range 100 {
		n, err := s.src.Read(s.buf[s.end:])
		s.end += n
		switch {
		case err == io.EOF:
			s.eof = true
			return n > 0, nil
		case err != nil:
			return false, fmt.Errorf("data: reading %s: %w", s.file, err)
		case n > 0:
			return true, nil
		}
	}
	return false, fmt.Errorf("data: reading %s: %w", s.file, io.ErrNoProgress)
}

// peek returns the next byte without using it, and false at the end of the file.
func (s *scanner) peek() (byte, bool, error) {
	if s.pos == s.end {
		if more, err := s.fill(); !more {
			return 0, false, err
		}
	}
	return s.buf[s.pos], true, nil
}

// column is the column of the next byte.
func (s *scanner) column() int { return s.pos - s.origin + 1 }

// newline records that the byte before pos ended a line.
func (s *scanner) newline() {
	s.line++
	s.origin = s.pos
}

// blank tells the bytes that are ignored around a cell. A carriage return is
// ignored behind one, which is all there is to CRLF.
func (s *scanner) blank(c byte) bool { return c == ' ' || c == '\t' && s.delimiter != '\t' }

// more skips empty lines and reports whether another record follows.
func (s *scanner) more() (bool, error) {
	for {
		c, ok, err := s.peek()
		if !ok || c != '\n' && c != '\r' {
			return ok, err
		}
		s.pos++
		if c == '\n' {
			s.newline()
		}
	}
}

// skipBlanks stops at the first byte that is not blank, or at the end of the file.
func (s *scanner) skipBlanks() error {
	for {
		c, ok, err := s.peek()
		if !ok || !s.blank(c) {
			return err
		}
		s.pos++
	}
}

// delimit sets the delimiter: the given one, or the first of a comma, a semicolon and a
// tab that the header has outside quotes, or a comma.
func (s *scanner) delimit(given byte) error {
	if given == 0 {
		counts := map[byte]int{}
		for done := false; !done; {
			clear(counts)
			if done = s.count(counts) || s.end-s.pos == maxCell; done {
				break
			}
			if more, err := s.fill(); err != nil {
				return err
			} else if !more {
				break
			}
		}
		switch {
		case counts[','] > 0 || counts[';']+counts['\t'] == 0:
			given = ','
		case counts[';'] > 0:
			given = ';'
		default:
			given = '\t'
		}
	}
	s.delimiter = given
	s.stop = [256]bool{'\n': true, '"': true}
	s.stop[given] = true
	return nil
}

// count counts delimiters in the first line, and reports whether it has all of it.
func (s *scanner) count(counts map[byte]int) bool {
	quoted, text := false, false
	for _, c := range s.buf[s.pos:s.end] {
		switch {
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == ',' || c == ';' || c == '\t':
			counts[c]++
		case c == '\n' && text:
			return true
		}
		text = text || c != '\n' && c != '\r'
	}
	return false
}

// cell returns the text of the next cell, valid until the next call, and whether
// it is the last of its record.
func (s *scanner) cell() (text []byte, last bool, err error) {
	if err := s.skipBlanks(); err != nil {
		return nil, false, err
	}
	s.cellLine, s.cellColumn = s.line, s.column()
	if s.pos < s.end && s.buf[s.pos] == '"' {
		return s.quoted()
	}
	i := s.pos
	for {
		for i < s.end && !s.stop[s.buf[i]] {
			i++
		}
		if i < s.end {
			break
		}
		used := i - s.pos
		more, err := s.fill()
		if err != nil {
			return nil, false, err
		}
		i = s.pos + used
		if !more {
			break
		}
	}
	text = s.buf[s.pos:i]
	for n := len(text) - 1; n >= 0 && (s.blank(text[n]) || text[n] == '\r'); n-- {
		text = text[:n]
	}
	s.pos = i
	// At a byte or at the end of the file, separator leaves the buffer alone.
	last, err = s.separator()
	return text, last, err
}

// quickCell is how much of the buffer number looks at.
const quickCell = 24

// number reads a cell that is a number of at most 15 digits without an exponent, blanks
// or quotes, as most are, with what follows it. It reads nothing and is not ok where
// that is not certain, and gives no text: cell then says what is there.
func (s *scanner) number() (v float64, text []byte, last bool) {
	if s.end-s.pos < quickCell {
		return 0, nil, false
	}
	b := (*[quickCell]byte)(s.buf[s.pos:])
	first, scale, whole := 0, 0, int64(0)
	sign := b[0] - '+' // 0, or 2 for a minus
	if sign&^2 == 0 {
		first = 1
	}
	i := first
	for ; i < 17 && b[i]-'0' <= 9; i++ {
		whole = 10*whole + int64(b[i]-'0')
	}
	digits := i - first
	if b[i] == '.' {
		point := i
		for i++; i < 17 && b[i]-'0' <= 9; i++ {
			whole = 10*whole + int64(b[i]-'0')
		}
		scale = i - 1 - point
		digits += scale
	}
	last = b[i] == '\n'
	if digits == 0 || digits > 15 || !last && b[i] != s.delimiter {
		return 0, nil, false
	}
	s.cellLine, s.cellColumn = s.line, s.column()
	if s.pos += i + 1; last {
		s.newline()
	}
	// Signs are as good as random, so there is no branch to predict wrongly.
	minus := uint64(sign>>1) & uint64(first) << 63
	return math.Float64frombits(math.Float64bits(exactQuotient(whole, scale)) ^ minus), b[:i], last
}

// quoted reads a cell from its opening quote on.
func (s *scanner) quoted() (text []byte, last bool, err error) {
	s.pos++
	s.unquoted = s.unquoted[:0]
	for {
		if _, ok, err := s.peek(); err != nil {
			return nil, false, err
		} else if !ok {
			return nil, false, &Error{File: s.file, Line: s.cellLine, Column: s.cellColumn, Value: `"` + string(s.unquoted),
				Found: "a quote that nothing closes", Allowed: "quotes in pairs",
				Do: "close the quote, or double it if it is part of the text"}
		}
		part := s.buf[s.pos:s.end]
		if k := bytes.IndexByte(part, '"'); k >= 0 {
			part = part[:k]
		}
		if err := s.keep(part); err != nil {
			return nil, false, err
		}
		if s.pos == s.end {
			continue
		}
		s.pos++
		if next, ok, err := s.peek(); err != nil {
			return nil, false, err
		} else if !ok || next != '"' {
			break
		}
		if err := s.keep(s.buf[s.pos : s.pos+1]); err != nil {
			return nil, false, err
		}
	}
	if err := s.skipBlanks(); err != nil {
		return nil, false, err
	}
	last, err = s.separator()
	return s.unquoted, last, err
}

// keep appends the next bytes to the text of a quoted cell.
func (s *scanner) keep(part []byte) error {
	if len(s.unquoted)+len(part) > maxCell {
		return s.tooLong()
	}
	s.unquoted = append(s.unquoted, part...)
	for {
		k := bytes.IndexByte(part, '\n')
		if k < 0 {
			s.pos += len(part)
			return nil
		}
		s.pos += k + 1
		s.newline()
		part = part[k+1:]
	}
}

// separator uses up what follows a cell and reports whether that ends the record.
func (s *scanner) separator() (last bool, err error) {
	for {
		c, ok, err := s.peek()
		if !ok {
			return true, err
		}
		s.pos++
		switch c {
		case s.delimiter:
			return false, nil
		case '\n':
			s.newline()
			return true, nil
		case '\r':
		default:
			return false, &Error{File: s.file, Line: s.line, Column: s.column() - 1, Value: string(c),
				Found:   fmt.Sprintf("%q next to the text of a cell", c),
				Allowed: "quotes around a whole cell only", Do: "quote the whole cell, and double the quotes inside"}
		}
	}
}

// heading is a name in the header.
type heading struct {
	text         string
	line, column int
}

// header reads the first record.
func (s *scanner) header() ([]heading, error) {
	some, err := s.more()
	if err != nil {
		return nil, err
	}
	if !some {
		return nil, &Error{File: s.file, Line: s.line, Column: 1, Found: "an empty file",
			Allowed: "a header line with the names of the columns", Do: "check that this is the right file"}
	}
	var names []heading
	for {
		text, last, err := s.cell()
		if err != nil {
			return nil, err
		}
		names = append(names, heading{string(text), s.cellLine, s.cellColumn})
		if last {
			return names, nil
		}
	}
}

// record reads a record that must have the given number of cells, and passes each
// on with its index; the text is valid during that call only.
func (s *scanner) record(cells int, use func(i int, text []byte)) error {
	for i := range cells {
		text, last, err := s.cell()
		if err != nil {
			return err
		}
		if last != (i == cells-1) {
			return s.ragged(i+1, cells, last)
		}
		use(i, text)
	}
	return nil
}

// ragged is the error for a record that ends too early, or goes on, after the given
// number of cells.
func (s *scanner) ragged(after, cells int, ended bool) error {
	e := &Error{File: s.file, Line: s.cellLine, Column: s.cellColumn, Value: strconv.Itoa(after),
		Found: fmt.Sprintf("a record that ends after %d cells", after),
		Allowed: fmt.Sprintf("%d cells, as in the header",
			cells), Do: fmt.Sprintf("look for a missing or unquoted %s, or a missing quote", s.delimiterName())}
	if !ended { // the delimiter was the last byte used
		e.Line, e.Column = s.line, s.column()-1
		e.Found, e.Value = fmt.Sprintf("a %s after %d cells", s.delimiterName(), after), string(s.delimiter)
	}
	return e
}

func (s *scanner) delimiterName() string {
	return map[byte]string{',': "comma", ';': "semicolon", '\t': "tab"}[s.delimiter]
}

// tooLong is the error for a cell that the buffer cannot hold.
func (s *scanner) tooLong() error {
	return &Error{File: s.file, Line: s.cellLine, Column: s.cellColumn, Found: fmt.Sprintf("a cell of more than %d bytes",
		maxCell),
		Allowed: fmt.Sprintf("at most %d bytes in a cell",
			maxCell), Do: "look for a missing quote or line break, or shorten the cell"}
}
