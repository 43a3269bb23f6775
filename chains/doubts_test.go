package chains_test

import (
	"strings"
	"testing"

	"github.com/dpmcmc/dpmcmc/chains"
	"github.com/dpmcmc/dpmcmc/models"
)

// anchoredVerdict is the verdict on anchored chains of a simulated table, of which the
// classes may be separated by a line.
func anchoredVerdict(t *testing.T, spec string, separable bool, epsilon float64) chains.Verdict {
	t.Helper()
	table := builtin(t, spec)
	for i := range table.Records {
		if x := table.Row(i); separable {
			table.Y[i] = 0
			if x[1] > 0.2*x[0] {
				table.Y[i] = 1
			}
		}
	}
	model, err := models.New("logistic", &table.Shape, models.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return ran(t, table, model, chains.Settings{}, epsilon).Verdict
}

// TestSeparableClassesAreNotUsable: where a line separates the classes the verdict is not
// plainly usable, with the reason and what to do; where the prior fits it is.
func TestSeparableClassesAreNotUsable(t *testing.T) {
	for _, c := range []struct {
		spec      string
		separable bool
		epsilon   float64
		headline  string
	}{
		{"builtin:logistic?n=3000&d=3", false, 1, "Usable: "},
		{"builtin:logistic?n=3000&d=3", true, 1, "Not usable as it stands: the prior holds back"},
		{"builtin:logistic?n=3000&d=3", true, 0.1, "Usable if the prior is believed"},
		{"builtin:logistic?n=60000&d=3", true, 5, "Not usable as it stands: "},
	} {
		if testing.Short() && strings.Contains(c.spec, "60000") {
			continue
		}
		v := anchoredVerdict(t, c.spec, c.separable, c.epsilon)
		if !strings.HasPrefix(v.Headline, c.headline) || v.Usable != strings.HasPrefix(c.headline, "Usable") {
			t.Errorf("%s at ε = %v, separable %v: %+v", c.spec, c.epsilon, c.separable, v)
		}
		if doubted := c.headline != "Usable: "; doubted != (len(v.Reasons) > 0) || doubted != (len(v.Advice) > 0) {
			t.Errorf("%s: reasons %v, advice %v", c.headline, v.Reasons, v.Advice)
		}
	}
}
