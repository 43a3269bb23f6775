package surrogates

import "testing"

// TestLinearCheck: of 80 regressions with parameters from the prior at most 6 are taken
// for a conflict, where 0.4 are expected at most (false alarm below 10⁻⁶). With
// coefficients eight times as large nearly all are. Where noise hides everything the
// prior is what is left, and the check says so.
func TestLinearCheck(t *testing.T) {
	alarms, seen := 0, 0
	for seed := range uint64(80) {
		post, _ := simulatedLinear(t, seed, 1, 4, 1)
		if c := post.CheckPrior(quick(t, post, seed)); c.Tail < LeastTail {
			alarms++
		}
		if seed >= 20 {
			continue
		}
		post, _ = simulatedLinear(t, seed, 1, 4, 8)
		if c := post.CheckPrior(quick(t, post, seed)); c.Tail < LeastTail {
			seen++
		}
	}
	if alarms > 6 {
		t.Errorf("%d false alarms in 80", alarms)
	}
	if seen < 15 {
		t.Errorf("of 20 conflicts %d are seen", seen)
	}
	t.Logf("%d false alarms, %d of 20 conflicts", alarms, seen)
	hidden, _ := simulatedLinear(t, 1, 1, 1000, 1)
	if c := hidden.CheckPrior(quick(t, hidden, 1)); len(c.Hidden) != 2 || c.Tail < LeastTail {
		t.Errorf("noise hides everything, the check says %+v", c)
	}
	clear, _ := simulatedLinear(t, 1, 1, 0.5, 1)
	if c := clear.CheckPrior(quick(t, clear, 1)); len(c.Hidden) != 0 {
		t.Errorf("sums are nearly exact, the check says %+v", c)
	}
}
