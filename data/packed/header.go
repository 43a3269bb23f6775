package packed

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/dpmcmc/dpmcmc/data"
)

// Suffix ends the name of a packed table, and tells it from a CSV file.
const Suffix = ".dpm"

// HeaderSize is the size of the first page, which holds the checksums of all others.
const HeaderSize = page

// page is the size of the header, and what regions begin at multiples of.
const page = 4096

// format names the layout.
const format = "dpmcmc packed table 1"

// Header is what a packed file says of itself, and all that its first page holds.
type Header struct {
	// Format names the layout.
	Format string `json:"format"`
	// Schema is the SHA-256 of what the schema says.
	Schema string `json:"schema"`
	// Records and Features are the numbers of rows and columns of the design matrix.
	Records  int `json:"records"`
	Features int `json:"features"`
	// Response reports whether there is a target.
	Response bool `json:"response"`
	// Width is the size of an entry of the design matrix in bytes: 4 or 8.
	Width int `json:"width"`
	// Source is the absolute path of the file that was packed; empty if it was none.
	Source string `json:"source,omitempty"`
	// X and Y are the SHA-256 of the rows and of the responses.
	X string `json:"x"`
	Y string `json:"y"`
}

// rows, responses and size are where the regions begin and where the file ends.
func (h *Header) rows() int64 { return page }

func (h *Header) responses() int64 {
	end := h.rows() + int64(h.Records)*int64(h.Features)*int64(h.Width)
	return (end + page - 1) / page * page
}

func (h *Header) size() int64 {
	if !h.Response {
		return h.responses()
	}
	return h.responses() + 8*int64(h.Records)
}

// text is the first page.
func (h *Header) text() ([]byte, error) {
	line, err := json.Marshal(h)
	if err != nil {
		return nil, err
	}
	if len(line) >= page {
		return nil, fmt.Errorf("packed: the header is %d bytes long, at most %d fit; pack in a folder with a shorter path",
			len(line), page-1)
	}
	return append(append(line, bytes.Repeat([]byte(" "), page-1-len(line))...), '\n'), nil
}

// ReadHeader reads the first page of the packed file at path. It checks nothing of the
// rest.
func ReadHeader(path string) (*Header, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("packed: %w", err)
	}
	defer f.Close()
	first := make([]byte, page)
	h := &Header{}
	if _, err := io.ReadFull(f, first); err != nil || json.Unmarshal(first, h) != nil || h.Format != format {
		return nil, fmt.Errorf("packed: %s is no packed table of this version; make one with dpmcmc pack", path)
	}
	const most = 1 << 40 // of each, so that no product overflows
	if h.Records < 1 || h.Features < 0 || h.Width != 4 && h.Width != 8 || h.Records > most || h.Features > 1<<20 {
		return nil, fmt.Errorf("packed: %s is damaged: its header states %d records of %d features with %d bytes each; pack "+
			"the table again", path, h.Records, h.Features, h.Width)
	}
	return h, nil
}

// fingerprint identifies what a schema says. Settings that are not given do not count,
// so that a schema keeps its fingerprint when later versions know more of them.
func fingerprint(s *data.Schema) (string, error) {
	text, err := json.Marshal(s)
	if err != nil {
		return "", err
	}
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		return "", err
	}
	if text, err = json.Marshal(given(v)); err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), nil
}

// given is v without the fields that are zero. An empty list is not: of missing tokens
// it stands for none.
func given(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, field := range v {
			if field == nil || field == "" || field == 0.0 || field == false {
				delete(v, name)
			} else {
				v[name] = given(field)
			}
		}
	case []any:
		for i := range v {
			v[i] = given(v[i])
		}
	}
	return v
}
