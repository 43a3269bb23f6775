package manual

import "testing"

// TestMeant: letters that are wrong, missing, too many or exchanged are seen, and beginnings, and no more.
func TestMeant(t *testing.T) {
	names := []string{"sample", "summary", "plan", "predict", "epsilon", "ess"}
	for word, want := range map[string]string{
		"sampel": "sample", "sumry": "summary", "plann": "plan", "epsilom": "epsilon", "eps": "epsilon or ess",
		"p": "plan or predict", "samples": "sample", "x": "", "": "", "frobnicate": "", "pln": "plan",
	} {
		if want != "" {
			want = "; did you mean " + want + "?"
		}
		if got := Meant(word, names); got != want {
			t.Errorf("%q: %q, want %q", word, got, want)
		}
	}
}
