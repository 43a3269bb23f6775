package experiment

import (
	"bytes"
	"encoding/json"
	"testing"
)

// FuzzJournal: no text makes reading a comparison's journal panic, what is accepted ends
// with a whole line, and is accepted again up to there.
func FuzzJournal(f *testing.F) {
	const fingerprint = "f"
	var whole []byte
	for _, e := range []entry{{Fingerprint: fingerprint}, {Start: "a"}, {Cell: &journaled{Result: Result{Cell: "a",
		Mean: []float64{1}}}}, {Reference: &ReferenceResult{}}} {
		line, err := json.Marshal(e)
		if err != nil {
			f.Fatal(err)
		}
		whole = append(append(whole, line...), '\n')
	}
	f.Add(whole)
	f.Add(whole[:len(whole)-3])
	f.Add([]byte("{\"fingerprint\":\"f\"}\n{\"cell\":{}}\n{\"cell\":null}\n"))
	read := func(text []byte) (*journal, int64, error) {
		j := &journal{starts: map[string]int{}, finished: map[string]*journaled{}, references: map[string]*ReferenceResult{}}
		end, err := j.read(bytes.NewReader(text), fingerprint)
		return j, end, err
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		j, end, err := read(text)
		if err != nil {
			return
		}
		if end > int64(len(text)) || end > 0 && text[end-1] != '\n' {
			t.Fatalf("read to byte %d of %d", end, len(text))
		}
		again, there, err := read(text[:end])
		if err != nil || there != end || len(again.finished) != len(j.finished) {
			t.Fatalf("the part that was read is %d cells to byte %d, %v", len(again.finished), there, err)
		}
	})
}
